# SPDX-License-Identifier: Apache-2.0
"""What the clock on two GPUs reads: the same for the same code, more for slower code, and nothing
for code that is honest only until it is timed.
"""

from pathlib import Path

import pytest

from tests.e2e.command import ROOT, pkbench

EXAMPLE = ROOT / "examples" / "001_allreduce.cu"
ATTEMPTS = ROOT / "tests" / "gpu" / "attempts"

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not Path("/dev/nvidia1").exists(), reason="fewer than two GPUs here"),
    pytest.mark.timeout(120),
]


def judge_pkb(source: Path) -> dict:
    """The record of an attempt at the size pkb."""
    options = ["-p", "1", "--device", "cuda", "--sizes", "pkb", "--json"]
    return pkbench("eval", source, *options, timeout_s=110).record


def attempt_us(record: dict) -> float:
    return record["sizes"][0]["time_us"]["attempt"]


def test_a_delay_is_read_and_nothing_else():
    first, again = judge_pkb(EXAMPLE), judge_pkb(EXAMPLE)
    delayed = judge_pkb(ATTEMPTS / "001_delayed.cu")
    assert {r["verdict"] for r in (first, again, delayed)} == {"CORRECT"}
    assert attempt_us(again) == pytest.approx(attempt_us(first), rel=0.03)
    assert 100 <= attempt_us(delayed) - attempt_us(first) <= 110


def test_batches_are_long_and_their_slots_used_once():
    (size,) = judge_pkb(EXAMPLE)["sizes"]
    batches = [batch for batch in size["batches"] if batch["side"] == "attempt"]
    assert all(batch["slowest_ns"] > 20e6 for batch in batches), batches
    assert all(batch["n"] <= 512 for batch in batches)


@pytest.mark.parametrize("name", ["001_skips_timed_calls", "001_leaves_timed_work"])
def test_what_is_right_only_until_it_is_timed_is_wrong(name):
    record = judge_pkb(ATTEMPTS / f"{name}.cu")
    assert record["verdict"] in ("WRONG_OUTPUT", "STATE_REPLAY"), record
    assert "timed batch" in record["reason"]


def test_a_kernel_that_slows_the_reference_is_heard():
    record = judge_pkb(ATTEMPTS / "001_leaves_kernel.cu")
    assert record["verdict"] == "TIMING_VIOLATION", record
    assert "work of the attempt still ran on the GPU" in record["reason"]
