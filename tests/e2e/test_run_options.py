# SPDX-License-Identifier: Apache-2.0
"""Options of `pkbench eval DIR`: parts of a run, what is judged again, and what a folder from
elsewhere may hold. Sources that are blank or do not compile need no ranks to be judged.
"""

import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from tests.e2e.command import PKBENCH, pkbench
from tests.e2e.fake_tools import fake_judge, fake_nvcc
from tests.e2e.processes import HUNG_S, wait_until
from tests.e2e.runs import HONEST, QUICK, demand, put, records_of, results_file


def blank(folder: Path, problem: str, samples: range) -> None:
    for number in samples:
        put(folder, f"samples/{problem}/{number}.cu", "\n" * number)


def attempts(records: list[dict]) -> list[tuple]:
    return [(record["problem"][:3], record["sample"]) for record in records]


# ---- parts of a run ----


def test_shards_are_judged_apart_and_read_together(tmp_path):
    blank(tmp_path, "001_allreduce", range(3))
    blank(tmp_path, "013_gemm_allreduce", range(4))
    for shard in ("3/3", "1/3", "2/3"):
        demand(pkbench("eval", tmp_path, *QUICK, "--shard", shard), 0, "records in", "score")
    parts = [records_of(results_file(tmp_path, shard=f"-{i}of3")) for i in (1, 2, 3)]
    assert [attempts(part) for part in parts] == [
        [("001", 0), ("001", 1)],
        [("001", 2), ("013", 0)],
        [("013", 1), ("013", 2), ("013", 3)],
    ]
    # What any of them judged is not judged again, by another shard or by none.
    demand(pkbench("eval", tmp_path, *QUICK, "--shard", "1/2"), 0, "3 judged before")
    with results_file(tmp_path, shard="-2of3").open("a") as other:
        other.write('{"id": "a record that is being writ')
    answer = pkbench("eval", tmp_path, *QUICK, "--json")
    demand(answer, 0, "7 attempts: 0 judged, 7 judged before", f"records in {tmp_path}/results\n")
    assert "cut" not in answer.err
    assert [json.loads(line) for line in answer.out.splitlines()] == [
        record for part in parts for record in part
    ]
    demand(pkbench("eval", tmp_path, *QUICK, "--shard", "9/9"), 0)
    assert len(list((tmp_path / "results").iterdir())) == 3  # none without a record
    demand(pkbench("eval", tmp_path, *QUICK, "--shard", "4/3"), 2, "--shard wants")


def test_some_samples_of_each_problem(tmp_path):
    blank(tmp_path, "001_allreduce", range(5))
    blank(tmp_path, "013_gemm_allreduce", range(2))
    answer = pkbench("eval", tmp_path, *QUICK, "--samples", "0,3-9", "--json")
    assert attempts([json.loads(line) for line in answer.out.splitlines()]) == [
        ("001", 0),
        ("001", 3),
        ("001", 4),
        ("013", 0),
    ]
    demand(pkbench("eval", tmp_path, *QUICK, "--samples", "7"), 2, "--samples 7")
    demand(pkbench("eval", tmp_path, *QUICK, "--samples", "a"), 2, "'a'", "0-4,7")


# ---- what would be judged ----


def test_a_dry_run_says_what_would_be_judged_and_starts_nothing(tmp_path):
    run = tmp_path / "run"
    blank(run, "001_allreduce", range(2))
    for number in (2, 3):
        put(run, f"samples/001_allreduce/{number}.cu", "int broken")
    put(run, "samples/013_gemm_allreduce/0.cu", "float broken")
    put(run, "samples/013_gemm_allreduce/1.cu", "binary \0")
    before = sorted(run.rglob("*"))
    answer = pkbench("eval", run, *QUICK, "--dry-run", "--keep", tmp_path / "kept", "--json")
    demand(answer, 0, "1.cu is no text")
    told = answer.record
    assert sorted(run.rglob("*")) == before
    assert not (tmp_path / "kept").exists()
    keys = ("to_judge", "blank", "equal", "judged_before", "unread")
    assert [told[key] for key in keys] == [2, 2, 1, 0, 1]
    assert [[row[key] for key in keys] for row in told["problems"]] == [
        [1, 2, 1, 0, 0],
        [1, 0, 0, 0, 1],
    ]
    assert told["by"] == "guess"
    assert 0 < told["minutes"] < 2
    assert "gpu_hours" not in told

    # What was judged tells how long the like of it takes; the file of records is not touched.
    assert pkbench("eval", run, *QUICK, "--samples", "0-2", "--problems", "1").status == 0
    path = results_file(run)
    records = records_of(path)
    records[-1]["cost_s"]["total"] = 178.5  # with the two blank ones, of 0 s: 59.5 s each
    for record in records[:-1]:
        record["cost_s"]["total"] = 0
    text = "".join(json.dumps(record) + "\n" for record in records) + '{"id": "cut'
    path.write_text(text)
    options = (*QUICK, "--dry-run", "--problems", "1", "--rejudge", "all")
    told = pkbench("eval", run, *options, "--json").record
    assert [told[key] for key in keys] == [1, 2, 1, 0, 0]
    assert (told["minutes"], told["by"]) == (0.99, "records")
    answer = pkbench("eval", run, *QUICK, "--dry-run")
    assert answer.status == 0, answer.err
    assert "(a guess)" in answer.out
    assert "nothing was started" in answer.out
    assert path.read_text() == text
    demand(pkbench("eval", HONEST, *QUICK, "--dry-run"), 2, "--dry-run goes with a folder")
    demand(pkbench("eval", run, "-p", "1"), 2, "--problem goes with a file")


# ---- what is judged again ----


def test_what_is_judged_again_counts_in_whatever_file_it_stands(tmp_path):
    blank(tmp_path, "001_allreduce", range(2))
    put(tmp_path, "samples/001_allreduce/2.cu", "int broken")
    demand(pkbench("eval", tmp_path, *QUICK, "--shard", "1/1"), 0, "3 judged")
    answer = pkbench("eval", tmp_path, *QUICK, "--rejudge", "compile_error")
    demand(answer, 0, "1 judged, 2 judged before")
    (again,) = records_of(results_file(tmp_path))
    assert (again["sample"], again["verdict"], again["revision"]) == (2, "COMPILE_ERROR", 1)
    demand(pkbench("eval", tmp_path, *QUICK, "--rejudge", "1/0"), 0, "1 judged, 2 judged before")
    demand(pkbench("eval", tmp_path, *QUICK, "--rejudge", again["id"]), 0, "1 judged, 2")
    assert [one["revision"] for one in records_of(results_file(tmp_path))] == [1, 1, 2]
    demand(pkbench("eval", tmp_path, *QUICK), 0, "3 judged before")
    # A source that changed is judged anew, and its record counts although another file has one.
    put(tmp_path, "samples/001_allreduce/2.cu", "")
    demand(pkbench("eval", tmp_path, *QUICK), 0, "1 judged, 2 judged before")
    score = json.loads(pkbench("score", tmp_path, "--json").out)
    assert score["verdicts"] == {"NO_CODE": 3}
    # The old source is back: its verdict is known, and counts again.
    put(tmp_path, "samples/001_allreduce/2.cu", "int broken")
    demand(pkbench("eval", tmp_path, *QUICK), 0, "0 judged, 3 judged before")
    score = json.loads(pkbench("score", tmp_path, "--json").out)
    assert score["verdicts"] == {"NO_CODE": 2, "COMPILE_ERROR": 1}
    assert score["complete"]
    for words in (["1/7"], ["TIMEOT"], ["x/001_allreduce/0/cpu/2"]):
        demand(pkbench("eval", tmp_path, *QUICK, "--rejudge", *words), 2, words[0])


def test_timing_follows_checking_only_where_there_is_something_to_time(tmp_path):
    environment = {**fake_judge(tmp_path, "correct"), **fake_nvcc(tmp_path)}
    untimed, timed = QUICK, tuple(word for word in QUICK if word != "--no-timing")
    run = tmp_path / "run"
    put(run, "001_allreduce/a.cu", HONEST)
    put(run, "001_allreduce/b.cu", "int BROKEN")
    put(run, "001_allreduce/c.cu", HONEST)
    demand(pkbench("eval", run, *untimed, env=environment), 0, "2 judged, 1 equal to others")
    demand(pkbench("eval", run, *timed, env=environment), 0, "1 judged, 1 equal", "1 judged before")
    records = records_of(results_file(run))
    assert [(one["sample"], one["flags"]["timing"]) for one in records] == [
        (0, False), (1, False), (2, False), (0, True), (2, True)]  # fmt: skip
    assert [one.get("revision", 0) for one in records] == [0, 0, 0, 1, 1]
    # The timed records count, and with them the wrong attempt that needed no timing.
    score = json.loads(pkbench("score", run, "--json").out)
    assert (score["all"]["judged"], score["conditions"]["timing"]) == (3, "on")
    # Checking alone asks for nothing that a timed record does not say.
    demand(pkbench("eval", run, *untimed, env=environment), 0, "3 judged before")
    assert records_of(results_file(run)) == records
    # Half of it timed is a mixture.
    results_file(run).write_text("".join(json.dumps(one) + "\n" for one in records[:4]))
    demand(pkbench("score", run), 2, "timing on and off", "without --no-timing", "--mix")


# ---- Ctrl-C ----


def fake_tools(folder: Path) -> dict[str, str]:
    return {**fake_judge(folder, "waits_in_second_attempt"), **fake_nvcc(folder)}


@pytest.fixture
def run_in_second(tmp_path):
    """A run of three whose second attempt is under way until `go` is made, as a process."""
    folder, go = tmp_path / "run", tmp_path / "mark.go"
    for number in range(3):
        put(folder, f"001_allreduce/{number}.cu", f"// {number}\n" + HONEST.read_text())
    process = subprocess.Popen(
        [PKBENCH, "eval", folder, *QUICK],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **fake_tools(tmp_path)},
        start_new_session=True,
    )
    try:
        assert wait_until(lambda: (tmp_path / "mark").exists(), HUNG_S), "no second attempt"
        yield process, folder, go
    finally:
        process.kill()


def press_ctrl_c(process: subprocess.Popen) -> None:
    """To the whole group, as a terminal does."""
    os.killpg(process.pid, signal.SIGINT)


def read_until(process: subprocess.Popen, word: str) -> str:
    said = ""
    for line in process.stderr:
        said += line
        if word in line:
            return said
    raise AssertionError(f"{word!r} is not in {said!r}")


def demand_stop(process: subprocess.Popen, folder: Path, samples: list[int]) -> None:
    _, err = process.communicate(timeout=HUNG_S)
    assert process.returncode == 130, err
    assert "interrupted by" in err
    assert "to go on:" in err
    records = records_of(results_file(folder))
    assert [(one["sample"], one["verdict"]) for one in records] == [
        (number, "CORRECT") for number in samples
    ]


def test_ctrl_c_finishes_the_attempt_under_way(run_in_second):
    process, folder, go = run_in_second
    press_ctrl_c(process)
    read_until(process, "interrupted: finishing the attempt under way; once more stops now")
    go.touch()
    demand_stop(process, folder, [0, 1])


def test_ctrl_c_twice_stops_now(run_in_second):
    process, folder, _ = run_in_second
    press_ctrl_c(process)
    read_until(process, "once more stops now")
    press_ctrl_c(process)
    demand_stop(process, folder, [0])


def test_sigterm_stops_now(run_in_second):
    process, folder, _ = run_in_second
    process.terminate()
    demand_stop(process, folder, [0])


# ---- what a terminal shows ----


def test_a_terminal_shows_a_bar_of_its_width(tmp_path):
    """The second attempt is under way until the bar was seen, whatever time that takes."""
    folder = tmp_path / "run"
    for number in range(2):
        put(folder, f"001_allreduce/{number}.cu", f"// {number}\n" + HONEST.read_text())
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 70, 0, 0))
    environment = fake_tools(tmp_path)
    process = subprocess.Popen(
        [PKBENCH, "eval", folder, *QUICK],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=slave,
        env={**os.environ, **environment, "TERM": "xterm", "NO_COLOR": "1"},
    )
    os.close(slave)
    said = b""
    try:
        with contextlib.suppress(OSError):  # the other end is closed
            while chunk := os.read(master, 4096):
                said += chunk
                if b"1/2  " in said and b"001_allreduce/1  " in said:
                    (tmp_path / "mark.go").touch()
    finally:
        process.kill()
        os.close(master)
    lines = said.decode().split("\r\033[K")[1:-1]
    assert any(re.search(r"1/2  .* left  1 correct .* 001_allreduce/1  ", one) for one in lines)
    assert max(len(line.split("\n")[0].rstrip()) for line in lines if "/2  " in line) <= 69
    assert "\033[" not in "".join(lines)


# ---- folders from elsewhere ----


def test_what_lies_in_a_folder_leads_nowhere_else(tmp_path):
    run, secret = tmp_path / "run", tmp_path / "secret.cu"
    secret.write_text("int secret")
    blank(run, "001_allreduce", range(2))
    samples = run / "samples" / "001_allreduce"
    (samples / "2.cu").symlink_to(secret)
    os.mkfifo(samples / "3.cu")
    (samples / "4.cu").mkdir()
    (samples / "5.cu").symlink_to("1.cu")
    (samples / "6.cu").write_bytes(b"/" * (1 << 20) + b"\n")
    (samples / "0.json").symlink_to(secret)
    (run / "samples" / "013_gemm_allreduce").symlink_to(tmp_path)
    (samples / "\x1b[2J.cu").write_text("")
    answer = pkbench("eval", run, *QUICK, "--json", timeout_s=60)
    demand(answer, 6, "2.cu is a symbolic link that leads out of the folder", "3.cu is a pipe",
           "4.cu is a directory", "6.cu has 1048577 bytes", "0.json is a symbolic link",
           "013_gemm_allreduce is a symbolic link", "?[2J.cu names no problem or sample",
           "8 attempts: 2 judged, 6 without a verdict")  # fmt: skip
    assert "secret" not in answer.out
    assert [json.loads(line)["sample"] for line in answer.out.splitlines()] == [1, 5]

    shutil.rmtree(run / "results")
    (run / "results").symlink_to(tmp_path)
    demand(pkbench("eval", run, *QUICK), 2, "results is a symbolic link that leads out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "secret.cu"]


@pytest.mark.parametrize("name", ["samples", "samples/001_allreduce"])
def test_completions_are_not_imported_through_a_link(tmp_path, name):
    run, outside = tmp_path / "run", tmp_path / "outside"
    outside.mkdir()
    (run / name).parent.mkdir(parents=True)
    (run / name).symlink_to(outside)
    lines = tmp_path / "c.jsonl"
    lines.write_text(json.dumps({"problem": 1, "completion": "no"}) + "\n")
    demand(pkbench("import", lines, run), 2, f"{run / name} is a symbolic link")
    assert list(outside.iterdir()) == []
