# SPDX-License-Identifier: Apache-2.0
"""pkbench audit as a user calls it; what it finds is tested in tests/python."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.e2e.command import PKBENCH, ROOT, pkbench
from tests.e2e.processes import HUNG_S, descendants, wait_until


def test_a_sound_problem():
    answer = pkbench("audit", "allreduce", "-n", "2")
    assert answer.status == 0, answer.err
    assert "001_allreduce" in answer.err
    assert "clean" in answer.err
    assert answer.out.splitlines()[-1] == "1 problem, 0 faults"


def test_a_fault_in_a_file_given_by_a_relative_path(tmp_path):
    for folder, name in (("problems", "001_allreduce.json"), ("references", "001_allreduce.py")):
        (tmp_path / folder).mkdir()
        text = (ROOT / folder / name).read_text()
        # every rank draws the same
        (tmp_path / folder / name).write_text(text.replace("ctx.rng", "ctx.shared_rng()"))
    answer = pkbench("audit", "problems/001_allreduce.json", "-n", "2", "--json", cwd=tmp_path)
    assert answer.status == 1, answer.err
    (problem,) = json.loads(answer.out)["problems"]
    assert problem["name"] == "001_allreduce"
    assert {fault["kind"] for fault in problem["faults"]} == {"inputs", "stub"}
    assert "'x' is the same on ranks 0 and 1: draw it with ctx.rng" in answer.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gemm_alreduce"], ["did you mean 013_gemm_allreduce"]),
        (["no/such.json"], ["no/such.json", "No such file"]),
        (["1", "-n", "2,x"], ["-n wants numbers of ranks from 2 to 64, not '2,x'"]),
        (["1", "--sizes", "tinny"], ["no size 'tinny'", "tiny_row"]),
        (["1", "--seeds", "1"], ["--seeds wants at least 2"]),
        (["1", "--device", "tpu"], ["no device 'tpu'"]),
        (["1", "--write"], ["--write goes with --calibrate"]),
        (["1", "--most-ranks", "4"], ["--most-ranks goes with --calibrate"]),
        (["1", "--table", "-n", "2"], ["--table prints what is stored"]),
        (["26", "-n", "3,7", "--sizes", "pkb"], ["possible at none of P = 3,7", "E % P == 0"]),
    ],
)
def test_bad_usage_is_named(arguments, words):
    answer = pkbench("audit", *arguments)
    for word in words:
        assert word in answer.err, answer.err
    assert (answer.status, answer.out) == (2, "")


def test_the_stored_bounds_as_a_table():
    answer = pkbench("audit", "--table", "allreduce")
    assert answer.status == 0, answer.err
    stored = json.loads((ROOT / "problems" / "001_allreduce.json").read_text())["tolerance"]
    for device, part in zip(("cpu", "cuda"), answer.out.split("\n## "), strict=True):
        bounds = " / ".join(
            f"{stored[device]['y'][metric]:.3g}" for metric in ("norm", "block", "max")
        )
        assert f"| 1 y (bf16) | {bounds} |" in part
        assert part.count(f"Set from: {stored[device]['y']['set']['date']}, ") == 1


@pytest.mark.parametrize("moment", ["harness.runner.audit", "forkserver", "rank"])
def test_an_interrupt_ends_it_whatever_it_is_at(moment):
    """While Python imports PyTorch, while that which forks the ranks does, and while they work."""
    scratch = Path(tempfile.mkdtemp(prefix="pkb-a", dir="/tmp"))  # sockets have short paths
    process = subprocess.Popen(
        [str(PKBENCH), "audit", "1", "-n", "2"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "PKBENCH_TMPDIR": str(scratch)},
    )

    def is_there() -> bool:
        tree = descendants(process.pid)
        if moment == "rank":  # forks of that which forks them, and all are named alike
            return sum("forkserver" in one.command for one in tree) > 1
        return any(moment in one.command for one in tree)

    try:
        assert wait_until(is_there)
        tree = descendants(process.pid)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=HUNG_S)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert err.endswith(b"pkbench: interrupted by SIGINT\n")
    assert [one for one in tree if not wait_until(lambda one=one: not one.is_alive())] == []
    assert [path for path in scratch.rglob("*") if path.is_file()] == []
    shutil.rmtree(scratch)
