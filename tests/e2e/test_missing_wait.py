# SPDX-License-Identifier: Apache-2.0
"""A missing wait is found every time, not most times. PKB_REPEATS sets how often it is tried."""

import os
import shutil

import pytest

from tests.e2e.command import ROOT
from tests.e2e.folder import FolderRun

REPEATS = int(os.environ.get("PKB_REPEATS", "3"))
NAMES = ["001_no_entry_wait", "001_waits_by_count"]


@pytest.fixture(scope="module", params=range(REPEATS))
def run(request, tmp_path_factory):
    """Ranks of its own for each time, and draws."""
    folder = tmp_path_factory.mktemp("waits") / "001"
    folder.mkdir()
    for name in NAMES:
        shutil.copy(ROOT / "tests" / "zoo" / f"{name}.cu", folder)
    with FolderRun(folder.parent, "-n", 2, "--no-save") as started:
        yield started


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", NAMES)
def test_missing_wait_is_always_caught(run, name):
    assert run.record(ROOT / f"{name}.cu")["verdict"] == "WRONG_OUTPUT"
