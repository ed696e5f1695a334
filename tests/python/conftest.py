# SPDX-License-Identifier: Apache-2.0
"""Fixtures: problems, and one world of processes for each P that all tests share."""

from pathlib import Path

import pytest
import torch

from harness.runner.audit.world import Worlds
from harness.runner.problem import ROOT, Problem, load

DATA = Path(__file__).parent / "data" / "problems"
PROBLEM_FILES = sorted((ROOT / "problems").glob("[0-9]*.json"))

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def running_worlds():
    """running_worlds(P) gives a world of P processes."""
    worlds = Worlds()
    yield worlds
    worlds.close()


@pytest.fixture(scope="session")
def everything() -> Problem:
    """A problem that uses every feature of the format."""
    return load(DATA / "900_everything.json")
