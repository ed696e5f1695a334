# SPDX-License-Identifier: Apache-2.0
"""`--debug RANK`: NVIDIA's compute-sanitizer around one rank's cell."""

from pathlib import Path

import pytest

from tests.e2e.command import ROOT
from tests.gpu.test_eval import EXAMPLE, judge

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not Path("/dev/nvidia1").exists(), reason="fewer than two GPUs here"),
    pytest.mark.timeout(200),
]


def test_a_debugged_rank_is_checked_and_no_score(tmp_path):
    kept = tmp_path / "kept"
    answer = judge(EXAMPLE, "--sizes", "tiny", "--debug", "1", "--keep", kept)
    record = answer.record
    assert record["verdict"] == "CORRECT", answer.out + answer.err
    assert record["flags"]["debug"] == {"rank": 1, "tool": "memcheck"}
    assert record["flags"]["timing"] is False
    assert record["sandbox"] == "none"
    assert "WITHOUT A SANDBOX" in answer.err
    assert "ERROR SUMMARY: 0 errors" in answer.err
    assert "ERROR SUMMARY: 0 errors" in (kept / "debug.txt").read_text()


def test_a_debugger_finds_a_wild_pointer():
    source = ROOT / "tests" / "zoo" / "001_wild_pointer.cu"
    answer = judge(source, "--sizes", "tiny", "--debug", "0")
    assert answer.record["verdict"] != "CORRECT"
    assert "Invalid __global__" in answer.err, answer.err
