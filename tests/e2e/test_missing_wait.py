# SPDX-License-Identifier: Apache-2.0
"""A missing wait is found every time, not most times. PKB_REPEATS sets how often it is tried."""

import os

from tests.e2e.command import ROOT, judge

REPEATS = int(os.environ.get("PKB_REPEATS", "3"))


def test_missing_entry_wait_is_always_caught():
    source = ROOT / "tests" / "zoo" / "001_no_entry_wait.cu"
    verdicts = [
        judge(source, "-n", 2, "--sizes", "tiny", "--no-timing").record["verdict"]
        for _ in range(REPEATS)
    ]
    assert verdicts == ["WRONG_OUTPUT"] * REPEATS
