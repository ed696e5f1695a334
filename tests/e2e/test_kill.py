# SPDX-License-Identifier: Apache-2.0
"""Whatever is killed, nothing stays behind. PKB_REPEATS sets how often each victim is tried."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.e2e.command import PKBENCH, ROOT, pkbench
from tests.e2e.processes import HUNG_S, descendants, kill, look, wait_until

HANGING = ROOT / "tests" / "zoo" / "001_hangs_on_host.cu"
REPEATS = int(os.environ.get("PKB_REPEATS", "1"))

# What marks each victim in the process tree, and how pkbench must end when it dies.
VICTIMS = {
    "evaluator": (None, -9),
    "mpirun": ("mpirun", 3),
    "judge": ("pkbench-judge", 3),
    "runner": ("harness.runner", 3),
    "cell": ("pkbench-cell", 1),
}


def holds_attempt(process) -> bool:
    """A cell without one is only waiting for its turn."""
    try:
        return "attempt.so" in Path(f"/proc/{process.pid}/maps").read_text()
    except OSError:
        return False


def is_victim(process, mark: str) -> bool:
    words = process.command.split()
    if mark == "pkbench-cell":  # not bubblewrap, which names it, too
        return bool(words) and words[0].endswith(mark) and holds_attempt(process)
    if mark == "pkbench-judge":  # nor mpirun
        return bool(words) and words[0].endswith(mark)
    return mark in process.command


@pytest.fixture
def scratch(tmp_path):
    """A short folder for the work directory: socket paths have 108 bytes."""
    folder = Path(f"/tmp/pkb-k{os.getpid()}")
    folder.mkdir(exist_ok=True)
    yield folder
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def start(scratch: Path, subject: Path, *options: str) -> subprocess.Popen:
    command = [PKBENCH, "eval", subject, "--device", "cpu", "--sizes", "tiny", "--timeout", "60"]
    return subprocess.Popen(
        [*command, *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PKBENCH_TMPDIR": str(scratch)},
    )


@pytest.mark.parametrize("repeat", range(REPEATS))
@pytest.mark.parametrize("victim", VICTIMS)
def test_nothing_outlives_a_kill(victim, repeat, scratch):
    mark, status = VICTIMS[victim]
    run = start(scratch, HANGING)
    try:
        assert wait_until(
            lambda: sum(is_victim(p, "pkbench-cell") for p in descendants(run.pid)) >= 2
        ), "no cells came up"
        tree = descendants(run.pid)
        victims = [look(run.pid)] if mark is None else [p for p in tree if is_victim(p, mark)]
        assert victims, f"no {victim} among {tree}"
        chosen = victims[0]
        kill(chosen)
        _, errors = run.communicate(timeout=HUNG_S)
    finally:
        run.kill()
    alive = [p for p in tree if not wait_until(lambda p=p: not p.is_alive())]
    assert alive == [], alive
    assert run.returncode == status, errors.decode()
    if mark is not None:
        assert errors.strip(), "no message"
        left = [p for p in scratch.rglob("*") if p.is_file()]
        assert left == [], left

    # The next start sweeps what a killed evaluator left.
    example = ROOT / "examples" / "001_allreduce.cu"
    again = pkbench(
        "eval", example, "--device", "cpu", "--sizes", "tiny", "--no-timing",
        env={"PKBENCH_TMPDIR": str(scratch)},
    )  # fmt: skip
    assert again.status == 0, again.err
    assert [p for p in scratch.rglob("*") if p.is_file()] == []


def test_who_loses_its_runner_twice_is_judged_for_it(scratch, tmp_path):
    """The example that is judged in between does not, so it is no failure of ours."""
    mark = b"where this attempt is, runners die"
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "001.cu").write_text(
        f'{HANGING.read_text()}\nextern "C" const char pkb_mark[] = "{mark.decode()}";\n'
    )

    def is_marked(process) -> bool:
        attempt = Path(f"/proc/{process.pid}/root/pkb/attempt.so")
        try:
            return is_victim(process, "pkbench-cell") and mark in attempt.read_bytes()
        except OSError:
            return False

    run = start(scratch, folder, "--no-save", "--no-timing", "--json")
    killed = set()
    try:
        for _ in range(2):
            assert wait_until(lambda: any(is_marked(p) for p in descendants(run.pid)))
            tree = descendants(run.pid)
            (first, *_) = [p for p in tree if is_victim(p, "harness.runner")]
            kill(first)
            killed.add(first)
            assert wait_until(lambda tree=tree: not any(is_marked(p) for p in tree))
        out, errors = run.communicate(timeout=HUNG_S)
    finally:
        run.kill()
    assert len(killed) == 2
    assert run.returncode == 0, errors.decode()
    record = json.loads(out)
    assert record["verdict"] == "CRASH", record
    assert re.search(
        r"001_allreduce\.cu passed.*the runner (ended|was killed).*in tiny", record["reason"]
    ), record
    assert record["control"]["verdict"] == "CORRECT"
