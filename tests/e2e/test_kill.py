# SPDX-License-Identifier: Apache-2.0
"""Whatever is killed, nothing stays behind. PKB_REPEATS sets how often each victim is tried."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.e2e.command import PKBENCH, ROOT, pkbench
from tests.e2e.fake_tools import fake_bwrap, fake_judge, fake_nvcc
from tests.e2e.processes import HUNG_S, Process, descendants, kill, look, wait_until
from tests.e2e.runs import records_of, results_file

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


# Its second size waits for a signal; its first is wrong.
WAITS_AT_ANOTHER_SIZE = """
#include <csignal>
#include <unistd.h>
static volatile sig_atomic_t is_told;
static void note(int) { is_told = 1; }
extern "C" int pkb_setup(pkb_world *, const pkb_args *args, void **)
{
    if (args->M != 0)
        return 0;
    signal(SIGUSR1, note);
    while (!is_told)
        usleep(1000);
    return 0;
}
#undef pkb_run
extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    return args->M == 37 ? 0 : honest_run(world, args, state, stream);
}
"""


def waiting_cells(root: int) -> list[Process]:
    """Those that catch SIGUSR1: sent before, it would end them."""

    def catches(process: Process) -> bool:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            return False
        caught = re.search(r"^SigCgt:\s*(\w+)$", status, re.M)
        return bool(caught) and bool(int(caught[1], 16) >> (signal.SIGUSR1 - 1) & 1)

    return [p for p in descendants(root) if is_victim(p, "pkbench-cell") and catches(p)]


def test_what_is_wrong_elsewhere_does_not_hide_a_kill(scratch, tmp_path):
    """The size whose cell was killed is judged all the same, as if nothing had been."""
    honest = (ROOT / "examples" / "001_allreduce.cu").read_text()
    (tmp_path / "run").mkdir()
    source = f"#define pkb_run honest_run\n{honest}{WAITS_AT_ANOTHER_SIZE}"
    (tmp_path / "run" / "001.cu").write_text(source)
    run = start(scratch, tmp_path / "run", "--no-save", "--no-timing", "--json")
    try:
        assert wait_until(lambda: waiting_cells(run.pid) != []), "it never came to its second size"
        (victim, *_) = waiting_cells(run.pid)
        kill(victim)

        def is_over() -> bool:
            for cell in waiting_cells(run.pid):
                os.kill(cell.pid, signal.SIGUSR1)
            return run.poll() is not None

        assert wait_until(is_over)
        out, errors = run.communicate(timeout=HUNG_S)
    finally:
        run.kill()
    assert run.returncode == 0, errors.decode()
    record = json.loads(out)
    assert record["verdict"] == "WRONG_OUTPUT", record
    verdicts = [size["verdict"] for size in record["sizes"]]
    assert verdicts == ["WRONG_OUTPUT", "CORRECT", "CORRECT"], record


# ---- sandboxes that are killed while they start ----


def left_behind(tmp_path) -> list[Process]:
    pids = (tmp_path / "mark.bwrap" / "pids").read_text().split()
    return [found for pid in pids if (found := look(int(pid))) is not None]


def two_attempts(folder: Path) -> Path:
    for number in range(2):
        path = folder / "run" / "samples" / "001_allreduce" / f"{number}.cu"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'extern "C" int pkb_run(void) {{ return {number}; }}')
    return folder / "run"


@pytest.mark.parametrize("word", ["/build /pkb/build", "/ahead-"])
def test_a_sandbox_that_is_killed_while_it_starts_leaves_nothing(scratch, tmp_path, word):
    fakes = {**fake_judge(tmp_path, "correct"), **fake_nvcc(tmp_path), **fake_bwrap(tmp_path, word)}
    run = two_attempts(tmp_path)
    answer = pkbench(
        "eval",
        run,
        "--device",
        "cpu",
        "--sizes",
        "tiny",
        env={"PKBENCH_TMPDIR": str(scratch), **fakes},
    )
    assert answer.status == 0, answer.err
    assert [record["verdict"] for record in records_of(results_file(run))] == ["CORRECT"] * 2
    assert (tmp_path / "mark.bwrap" / "ready").exists(), "no sandbox was killed"
    assert wait_until(lambda: left_behind(tmp_path) == []), left_behind(tmp_path)


def test_the_next_start_ends_sandboxes_of_a_killed_evaluator(scratch, tmp_path, monkeypatch):
    fakes = {**fake_judge(tmp_path, "correct"), **fake_nvcc(tmp_path)}
    fakes |= fake_bwrap(tmp_path, "/pkb/build", waits=True)
    for name, value in fakes.items():
        monkeypatch.setenv(name, value)
    run = start(scratch, two_attempts(tmp_path))
    try:
        assert wait_until(lambda: (tmp_path / "mark.bwrap" / "ready").exists())
        tree = descendants(run.pid)
    finally:
        run.kill()
        run.communicate(timeout=HUNG_S)
    assert wait_until(lambda: len([p for p in tree if p.is_alive()]) <= 2)
    assert left_behind(tmp_path), "nothing to sweep"
    assert pkbench("eval", tmp_path / "run", env={"PKBENCH_TMPDIR": str(scratch)}).status == 0
    assert wait_until(lambda: left_behind(tmp_path) == []), left_behind(tmp_path)
