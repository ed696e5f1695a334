# SPDX-License-Identifier: Apache-2.0
"""Fixtures: problems, and one world of processes for each P that all tests share."""

from pathlib import Path

import pytest
import torch

from harness.runner.problem import ROOT, Problem, ProblemError, load
from harness.runner.resolve import grids, resolve_size
from tests.python.world import World

DATA = Path(__file__).parent / "data" / "problems"
PROBLEM_FILES = sorted((ROOT / "problems").glob("[0-9]*.json"))

torch.set_num_threads(1)


def tiny_cases(worlds: tuple[int, ...]) -> list:
    """(problem, size, P, grid) for every problem, tiny size and grid shape, as parameters."""
    cases = []
    for path in PROBLEM_FILES:
        problem = load(path)
        for size in problem.sizes:
            if size.size_class == "tiny":
                for world in worlds:
                    for shape in shapes(problem, size, world):
                        name = f"{problem.name}-{size.name}-P{world}{shape and '-'}{shape}"
                        cases.append(pytest.param(problem, size.name, world, shape, id=name))
    return cases


def shapes(problem: Problem, size, world: int) -> list[str]:
    """The grid shapes that the size allows; none where the world is refused."""
    found = []
    for grid in grids(problem.axes, world):
        try:
            found.append(str(resolve_size(problem, size, world, grid).grid))
        except ProblemError:
            continue
    return found


@pytest.fixture(scope="session")
def worlds():
    """worlds(P) gives a running world of P processes."""
    running: dict[int, World] = {}

    def get(size: int) -> World:
        if size not in running:
            running[size] = World(size)
        return running[size]

    yield get
    for world in running.values():
        world.close()


@pytest.fixture(scope="session")
def everything() -> Problem:
    """A problem that uses every feature of the format."""
    return load(DATA / "900_everything.json")
