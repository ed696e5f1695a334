# SPDX-License-Identifier: Apache-2.0
"""A missing wait is found every time, not most times. PKB_REPEATS sets how often it is tried."""

import os

import pytest

from tests.e2e.command import ROOT, judge

REPEATS = int(os.environ.get("PKB_REPEATS", "3"))


@pytest.mark.parametrize("name", ["001_no_entry_wait", "001_waits_by_count"])
def test_missing_wait_is_always_caught(name):
    source = ROOT / "tests" / "zoo" / f"{name}.cu"
    verdicts = [
        judge(source, "-n", 2, "--sizes", "tiny", "--no-timing").record["verdict"]
        for _ in range(REPEATS)
    ]
    assert verdicts == ["WRONG_OUTPUT"] * REPEATS
