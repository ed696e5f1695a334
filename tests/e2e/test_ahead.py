# SPDX-License-Identifier: Apache-2.0
"""The next attempts of a run are compiled while one is judged, and disturb nothing."""

import json
import os
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.command import PKBENCH, pkbench
from tests.e2e.fake_tools import fake_judge, fake_nvcc
from tests.e2e.processes import HUNG_S, Process, descendants, kill, state, wait_until

LOOKS = 300
QUICK = ("--device", "cpu", "--sizes", "tiny", "--seed", "1", "--no-save", "--json")
SOURCE = 'extern "C" int pkb_run(void) { return 0; }'


@pytest.fixture
def folder(tmp_path) -> Path:
    samples = tmp_path / "run" / "samples" / "001_allreduce"
    samples.mkdir(parents=True)
    return samples


def core_limit(count: int):
    cores = sorted(os.sched_getaffinity(0))[:count]
    return lambda: os.sched_setaffinity(0, cores)


@contextmanager
def run_on(
    tmp_path: Path,
    cores: int,
    *options: str,
    end: signal.Signals = signal.SIGTERM,
    verb: str = "eval",
):
    """A run whose judges time when the test says so, on so many cores; then nothing is left. A
    worker is asked for the same.
    """
    command = [PKBENCH, "eval", tmp_path / "run", *QUICK]
    requests = tmp_path / "requests.jsonl"
    files = sorted((tmp_path / "run").rglob("*.cu"))
    lines = [{"request": k, "problem": 1, "file": str(file)} for k, file in enumerate(files)]
    requests.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if verb == "worker":
        command = [PKBENCH, "worker", "--device", "cpu", "--sizes", "tiny"]
    command += options
    env = {**os.environ, **fake_judge(tmp_path, "times_when_told"), **fake_nvcc(tmp_path)}
    (tmp_path / "toolkit" / "bin" / "calls").touch()
    run = subprocess.Popen(
        command,
        stdin=requests.open("rb"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        preexec_fn=core_limit(cores),
    )
    tree: list[Process] = []
    try:
        yield run
        tree = descendants(run.pid)
        run.send_signal(end)
        _, err = run.communicate(timeout=HUNG_S)
        assert run.returncode == (130 if end == signal.SIGTERM else -end), err
    finally:
        run.kill()
        run.wait()
    assert [p for p in tree if not wait_until(lambda p=p: not p.is_alive())] == []


def compilers(run: subprocess.Popen) -> list[Process]:
    """Processes that compile, with all that is around them."""
    tree = descendants(run.pid)
    return [process for process in tree if "toolkit/bin/nvcc" in process.command]


def is_spinning(run: subprocess.Popen) -> bool:
    """The fake nvcc and its child; what is around it has been started before."""
    shells = [process for process in compilers(run) if process.command.startswith("/bin/sh ")]
    return [state(process) for process in shells] == ["R", "R"]


def all_stopped(run: subprocess.Popen) -> bool:
    """Once the first attempt's compilers have ended, too."""
    return {state(process) for process in compilers(run)} == {"T"}


def first_verdict(run: subprocess.Popen) -> str:
    answer = json.loads(run.stdout.readline())
    if "ready" in answer:  # of a worker
        answer = json.loads(run.stdout.readline())["record"]
    return answer["verdict"]


@pytest.mark.parametrize("verb", ["eval", "worker"])
@pytest.mark.parametrize("options", [(), ("--worlds", "2", "--no-cache")])
def test_no_compiler_runs_while_a_batch_is_timed(folder, tmp_path, verb, options):
    """Neither one ahead nor that of another world."""
    (folder / "0.cu").write_text(SOURCE)
    (folder / "1.cu").write_text(SOURCE + " // SPIN")
    with run_on(tmp_path, 2, *options, verb=verb) as run:
        assert wait_until(lambda: is_spinning(run)), "nothing is compiled meanwhile"
        (tmp_path / "mark.time").touch()
        assert wait_until(lambda: all_stopped(run))
        found = compilers(run)
        for _ in range(LOOKS):
            assert {state(process) for process in found} == {"T"}
        assert {process.pid for process in compilers(run)} == {process.pid for process in found}
        (tmp_path / "mark.verdict").touch()
        # The first has its verdict; the second waits for the same compilers, which go on.
        assert wait_until(lambda: is_spinning(run))
        assert first_verdict(run) == "CORRECT"
        assert {process.pid for process in compilers(run)} == {process.pid for process in found}


def test_a_run_that_is_killed_in_a_pause_leaves_no_compiler(folder, tmp_path):
    (folder / "0.cu").write_text(SOURCE)
    (folder / "1.cu").write_text(SOURCE + " // SPIN")
    with run_on(tmp_path, 2, end=signal.SIGKILL) as run:
        assert wait_until(lambda: is_spinning(run))
        (tmp_path / "mark.time").touch()
        assert wait_until(lambda: all_stopped(run))


def test_nothing_is_begun_once_a_run_was_asked_to_stop(folder, tmp_path):
    """Two compilers that spin end, and there would be room for the third attempt's."""
    for number, mark in enumerate(("", "SPIN", "SPIN", "")):
        (folder / f"{number}.cu").write_text(f"{SOURCE} // {number} {mark}")
    with run_on(tmp_path, 2, "--sandbox", "none") as run:
        calls = tmp_path / "toolkit" / "bin" / "calls"
        assert wait_until(lambda: calls.read_text().count("call") == 3)
        assert wait_until(lambda: not any(" 0.cu " in one.command for one in compilers(run)))
        run.send_signal(signal.SIGINT)
        assert run.stderr.readline().startswith(b"interrupted: finishing")
        for one in compilers(run):
            kill(one)
        assert wait_until(lambda: compilers(run) == [])
        (tmp_path / "mark.time").touch()
        (tmp_path / "mark.verdict").touch()
        assert run.wait(HUNG_S) == 130
        assert calls.read_text().count("call") == 3


@pytest.mark.cores
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 8, reason="needs 8 cores: 3 a rank and 2")
def test_compilers_have_cores_of_their_own(folder, tmp_path):
    (folder / "0.cu").write_text(SOURCE)
    (folder / "1.cu").write_text(SOURCE + " // SPIN")
    with run_on(tmp_path, 8) as run:
        assert wait_until(lambda: is_spinning(run))
        (tmp_path / "mark.time").touch()
        tree = descendants(run.pid)
        theirs = [p for p in tree if "nvcc" in p.command or "bwrap" in p.command]
        judges = [p for p in tree if "pkbench-judge" in p.command and p not in theirs]
        cores = {core for p in theirs for core in os.sched_getaffinity(p.pid)}
        assert len(cores) == 2
        assert not any(cores & os.sched_getaffinity(p.pid) for p in judges)
        assert is_spinning(run)


def test_records_are_the_same_without_it(folder, tmp_path):
    """Each source is compiled once, and nothing but the costs says how."""
    for number in range(6):
        (folder / f"{number}.cu").write_text(SOURCE + f" // {number}")
    (folder / "6.cu").write_text("BROKEN")
    (folder / "7.cu").write_text("BROKEN as well")
    (folder / "8.cu").write_text(SOURCE + " // 0")  # equal to the first
    env = {**fake_judge(tmp_path, "correct"), **fake_nvcc(tmp_path)}
    calls = tmp_path / "toolkit" / "bin" / "calls"

    def records(*options) -> list[dict]:
        calls.write_text("")
        answer = pkbench("eval", tmp_path / "run", *QUICK, "--sandbox", "none", *options, env=env)
        assert answer.status == 0, answer.err
        assert calls.read_text().count("call") == 8
        return [json.loads(line) for line in answer.out.splitlines()]

    kept = [tmp_path / "ahead", tmp_path / "alone"]
    ahead, alone = records("--keep", kept[0]), records("--keep", kept[1], "--no-cache")
    assert [record["verdict"] for record in ahead] == ["CORRECT"] * 6 + ["COMPILE_ERROR"] * 2 + [
        "CORRECT"
    ]
    for record in (*ahead, *alone):
        record.pop("cost_s", None)
    assert ahead == alone
    for folder_name in ("6", "7"):
        log = Path("001_allreduce", folder_name, "compile.log")
        assert "this is broken" in (kept[0] / log).read_text()
        assert (kept[0] / log).read_text() == (kept[1] / log).read_text()
