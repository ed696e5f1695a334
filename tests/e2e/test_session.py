# SPDX-License-Identifier: Apache-2.0
"""Judges that die or break the protocol: our failure (INFRA_ERROR, status 3), never a verdict."""

import os
from pathlib import Path

import pytest

from tests.e2e.command import ROOT, pkbench
from tests.e2e.fake_tools import fake_judge

EXAMPLE = ROOT / "examples" / "001_allreduce.cu"

# What the fake judge does, and what the message must say.
FAULTS = {
    "dies_at_once": "no such library",
    "wrong_rank": "rank 99",
    "error_at_open": "no memory for the pool",
    "dies_in_attempt": "ended unexpectedly",
    "no_json": "not valid JSON",
    "unknown_event": "'applause'",
    "unknown_verdict": "FINE",
}


@pytest.fixture
def programs(tmp_path) -> dict[str, str]:
    """A folder of programs in which the judge is a fake."""
    return {**fake_judge(tmp_path, "correct"), "PKBENCH_TMPDIR": f"/tmp/pkb-s{os.getpid()}"}


def evaluate(programs, mode: str, *arguments):
    answer = pkbench(
        "eval", EXAMPLE, "--device", "cpu", *arguments, env={**programs, "FAKE_JUDGE": mode}
    )
    left = [path for path in Path(programs["PKBENCH_TMPDIR"]).rglob("*") if path.is_file()]
    assert left == []
    return answer


def test_the_protocol_is_spoken(programs):
    answer = evaluate(programs, "correct", "--json", "-n", "3")
    assert answer.status == 0, answer.err
    assert answer.record["verdict"] == "CORRECT"
    sizes = answer.record["sizes"]
    assert [size["size"] for size in sizes] == answer.record["sizes_asked"]
    assert {size["verdict"] for size in sizes} == {"CORRECT"}


@pytest.mark.parametrize("mode", FAULTS)
def test_a_broken_judge_is_our_failure(programs, mode):
    answer = evaluate(programs, mode, "--json")
    assert answer.status == 3, answer
    assert answer.record["verdict"] == "INFRA_ERROR"
    assert FAULTS[mode] in answer.record["reason"]
