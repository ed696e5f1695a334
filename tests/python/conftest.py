# SPDX-License-Identifier: Apache-2.0
"""Fixtures: problems, and one world of processes for each P that all tests share."""

from pathlib import Path

import pytest
import torch

from harness.runner.problem import ROOT, Problem, load
from tests.python.world import World

DATA = Path(__file__).parent / "data" / "problems"
PROBLEM_FILES = sorted((ROOT / "problems").glob("[0-9]*.json"))

torch.set_num_threads(1)


def tiny_cases(worlds: tuple[int, ...]) -> list:
    """(problem, size, P) for every problem and tiny size, as parameters of a test."""
    cases = []
    for path in PROBLEM_FILES:
        problem = load(path)
        for size in problem.sizes:
            if size.size_class == "tiny":
                for world in worlds:
                    name = f"{problem.name}-{size.name}-P{world}"
                    cases.append(pytest.param(problem, size.name, world, id=name))
    return cases


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
