# SPDX-License-Identifier: Apache-2.0
"""Folders of attempts: each gets its record, once, whatever happens to the command meanwhile."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.command import PKBENCH, ROOT, pkbench
from tests.e2e.fake_tools import fake_judge
from tests.e2e.processes import HUNG_S, descendants, wait_until
from tests.e2e.runs import HONEST, QUICK, demand, put, records_of, results_file

GEMM = ROOT / "examples" / "013_gemm_allreduce.cu"
ZOO = ROOT / "tests" / "zoo"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A run of five: two examples, a wrong one, one that does not compile, one that crashes."""
    run = tmp_path / "my run"
    put(run, "samples/001_allreduce/0.cu", ZOO / "001_crashes.cu")
    put(run, "samples/001_allreduce/1.cu", HONEST)
    put(run, "samples/001_allreduce/2.cu", "int broken")
    put(run, "samples/001_allreduce/10.cu", ZOO / "001_wrong_last_element.cu")
    put(run, "samples/013_gemm_allreduce/0.cu", GEMM)
    return run


VERDICTS = [
    ("001_allreduce", 0, "CRASH"),
    ("001_allreduce", 1, "CORRECT"),
    ("001_allreduce", 2, "COMPILE_ERROR"),
    ("001_allreduce", 10, "WRONG_OUTPUT"),
    ("013_gemm_allreduce", 0, "CORRECT"),
]


def verdicts(records: list[dict]) -> list[tuple]:
    return [(record["problem"], record["sample"], record["verdict"]) for record in records]


def test_each_attempt_gets_its_record_in_one_session(folder):
    answer = pkbench("eval", folder, *QUICK)
    assert answer.status == 0, answer.err
    assert answer.out == ""
    records = records_of(results_file(folder))
    assert verdicts(records) == VERDICTS
    assert records[3]["id"] == "my_run/001_allreduce/10/cpu/2"
    assert [record["run"] for record in records] == ["my run".replace(" ", "_")] * 5
    # Ranks came up for the first attempt, and lived on: also behind one that crashed.
    assert ["start" in record["cost_s"] for record in records] == [True] + [False] * 4
    for record in records:
        costs = dict(record["cost_s"])
        total = costs.pop("total")
        assert sum(costs.values()) <= total + 0.01, record
        assert "load" in costs or record["verdict"] == "COMPILE_ERROR"
    for problem, sample, verdict in VERDICTS:
        (line,) = [one for one in answer.err.splitlines() if f"] {problem}/{sample} " in one]
        assert verdict in line
    assert "2/5" in answer.err.splitlines()[-3]
    assert shlex.split(answer.err.splitlines()[-1])[1:] == [str(PKBENCH), "score", str(folder)]
    assert "5 attempts: 5 judged" in answer.err

    again = pkbench("eval", f"{folder}/", *QUICK, "--json")
    assert again.status == 0, again.err
    assert "5 judged before" in again.err
    assert [json.loads(line) for line in again.out.splitlines()] == records

    # Beside records for other ranks a score has to be told which it is of.
    other = folder / "results" / "host-cpu-P4.jsonl"
    other.write_text(json.dumps(records[0] | {"world": 4}) + "\n")
    third = pkbench("eval", folder, *QUICK)
    said = shlex.split(third.err.splitlines()[-1])[1:]
    assert said == [str(PKBENCH), "score", str(folder), "--device", "cpu", "--world", "2"]
    assert pkbench(*said[1:3]).status == 2
    assert pkbench(*said[1:]).status == 6  # one problem has fewer samples
    other.unlink()
    assert records_of(results_file(folder)) == records


def test_other_options_and_changed_sources_are_judged_anew(tmp_path):
    put(tmp_path, "run/001_allreduce/a.cu", HONEST)
    put(tmp_path, "run/001_allreduce/b.cu", "int broken")
    put(tmp_path, "run/013.cu", GEMM)
    folder, only = tmp_path / "run", ("--problems", "1-12")
    assert pkbench("eval", folder, *QUICK, *only).status == 0
    put(folder, "001_allreduce/b.cu", "float broken")
    answer = pkbench("eval", folder, *QUICK, *only)
    assert answer.status == 0, answer.err
    assert "2 attempts: 1 judged, 1 judged before" in answer.err
    assert [record["sample"] for record in records_of(results_file(folder))] == [0, 1, 1]
    answer = pkbench(
        "eval", folder, *QUICK, *only, "--rejudge", "all", "-o", tmp_path / "other.jsonl"
    )
    assert "2 attempts: 2 judged" in answer.err
    answer = pkbench(
        "eval", folder, *QUICK, *only, "--rejudge", "all", "-o", tmp_path / "other.jsonl"
    )
    assert "2 attempts: 2 judged" in answer.err
    assert len(records_of(tmp_path / "other.jsonl")) == 4


def test_equal_sources_are_judged_once(tmp_path):
    for name in ("a", "b", "c"):
        put(tmp_path, f"001_allreduce/{name}.cu", HONEST)
    answer = pkbench("eval", tmp_path, *QUICK, "--json")
    assert answer.status == 0, answer.err
    first, *others = [json.loads(line) for line in answer.out.splitlines()]
    assert "same_as" not in first
    for number, record in enumerate(others, start=1):
        assert record["sample"] == number
        assert record["same_as"] == first["id"]
        assert record["judgement"] == first["judgement"]
        assert "cost_s" not in record
    assert len(records_of(results_file(tmp_path))) == 3


# ---- ends ----


@pytest.fixture
def scratch():
    """A short folder for the work directory: socket paths have 108 bytes."""
    path = Path(f"/tmp/pkb-r{os.getpid()}")
    path.mkdir(exist_ok=True)
    yield path
    shutil.rmtree(path, ignore_errors=True)


def start(folder: Path, scratch: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [PKBENCH, "eval", folder, *QUICK],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PKBENCH_TMPDIR": str(scratch)},
    )


def lines_in(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("results/*.jsonl"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_was_ended_goes_on(folder, scratch, number):
    """The fourth attempt would hang, so the run is ended behind the third, at the earliest."""
    put(folder, "samples/001_allreduce/10.cu", ZOO / "001_hangs_on_host.cu")
    run = start(folder, scratch)
    try:
        assert wait_until(lambda: lines_in(folder) >= 3), "no records came"
        tree = descendants(run.pid)
        run.send_signal(number)
        _, err = run.communicate(timeout=HUNG_S)
    finally:
        run.kill()
    assert [p for p in tree if not wait_until(lambda p=p: not p.is_alive())] == []
    if number == signal.SIGINT:
        assert run.returncode == 130
        (hint,) = [one for one in err.decode().splitlines() if one.startswith("to go on:")]
        assert shlex.split(hint)[3:5] == [str(PKBENCH), "eval"]
        assert sorted(shlex.split(hint)[5:]) == sorted([*QUICK, str(folder)])
        assert b"interrupted" in err
    kept = results_file(folder).read_bytes()
    with results_file(folder).open("ab") as file:  # a write that the kill had cut
        file.write(kept.splitlines()[0][:50])

    put(folder, "samples/001_allreduce/10.cu", ZOO / "001_wrong_last_element.cu")
    answer = pkbench("eval", folder, *QUICK, env={"PKBENCH_TMPDIR": str(scratch)})
    assert answer.status == 0, answer.err
    assert "was cut in the middle" in answer.err
    assert results_file(folder).read_bytes().startswith(kept)
    assert [p for p in scratch.rglob("*") if p.is_file()] == []
    done = [one for one in verdicts(records_of(results_file(folder))) if one[2] != "TIMEOUT"]
    assert done == VERDICTS


def test_a_second_writer_is_refused(folder, scratch):
    run = start(folder, scratch)
    try:
        assert wait_until(lambda: list(folder.glob("results/*.jsonl")) != [])
        answer = pkbench("eval", folder, *QUICK)
    finally:
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=HUNG_S)
    assert answer.status == 2, answer.err
    assert "another pkbench" in answer.err


# ---- ranks that break ----


@pytest.fixture
def honest(tmp_path) -> Path:
    """Six different sources that compile."""
    for number in range(6):
        text = f"// {number}\n" + HONEST.read_text()
        put(tmp_path, f"run/samples/001_allreduce/{number}.cu", text)
    return tmp_path / "run"


def keep_first(honest: Path, count: int) -> None:
    for number in range(count, 6):
        (honest / f"samples/001_allreduce/{number}.cu").unlink()


@pytest.mark.parametrize(
    ("mode", "verdicts"),
    [
        (
            "cell_is_killed_once",
            ["CORRECT"] * 6,
        ),  # by the kernel for lack of memory, or by a person
        ("cell_is_killed_and_hidden_once", ["CORRECT"] * 6),  # behind what is wrong elsewhere
        ("cell_is_killed", ["CRASH"] * 6),
    ],
)
def test_an_attempt_whose_cell_was_killed_is_judged_once_more(honest, tmp_path, mode, verdicts):
    answer = pkbench("eval", honest, *QUICK, env=fake_judge(tmp_path, mode))
    assert answer.status == 0, answer.err
    records = records_of(results_file(honest))
    assert [record["verdict"] for record in records] == verdicts
    assert ["start" in record["cost_s"] for record in records].count(True) <= 1  # ranks live on


def test_ranks_that_break_once_cost_no_verdict(honest, tmp_path):
    environment = fake_judge(tmp_path, "dies_in_second_attempt_once")
    answer = pkbench("eval", honest, *QUICK, "--problems", "1", env=environment)
    assert answer.status == 0, answer.err
    records = records_of(results_file(honest))
    assert [record["verdict"] for record in records] == ["CORRECT"] * 6
    assert ["start" in record["cost_s"] for record in records] == [True] + [False] * 5
    assert ["control" in record for record in records] == [False, True] + [False] * 4
    control = records[1]["control"]
    assert control["source"] == HONEST.name
    assert control["verdict"] == "CORRECT"
    assert "ended unexpectedly" in control["after"]
    assert control["cost_s"]["start"] > 0


# What breaks the ranks again and again, but not with the example: it leaves no score.
OWN_FAULTS = {
    "dies_but_in_controls": ("CRASH", "ended unexpectedly"),
    "runs_out_but_in_controls": ("RESOURCE_LIMIT", "no pipe"),
    "says_infra_error_but_in_controls": ("CRASH", "never stands still"),
}


@pytest.mark.parametrize("mode", OWN_FAULTS)
def test_who_breaks_ranks_is_judged_for_it(honest, tmp_path, mode):
    verdict, reason = OWN_FAULTS[mode]
    keep_first(honest, 2)
    answer = pkbench("eval", honest, *QUICK, env=fake_judge(tmp_path, mode))
    assert answer.status == 0, answer.err
    records = records_of(results_file(honest))
    assert [record["verdict"] for record in records] == [verdict] * 2, records
    for record in records:
        assert re.search(rf"{HONEST.name} passed.*{reason}", record["reason"]), record["reason"]
        assert record["control"]["verdict"] == "CORRECT"
        assert "tiny" in record["sizes_asked"]


def test_without_an_example_nobody_is_blamed(honest, tmp_path):
    keep_first(honest, 1)
    root = tmp_path / "root"
    for part in ("problems", "references", "harness"):
        shutil.copytree(ROOT / part, root / part)
    environment = fake_judge(tmp_path, "dies_but_in_controls")
    environment |= {"PKBENCH_ROOT": str(root), "PKBENCH_PYTHON": sys.executable}
    answer = pkbench("eval", honest, *QUICK, env=environment)
    assert answer.status == 6, answer.err
    (record,) = records_of(results_file(honest))
    assert record["verdict"] == "INFRA_ERROR"
    assert re.search("ended unexpectedly.*001_allreduce has no example", record["reason"])
    assert "control" not in record


def test_ranks_that_do_not_come_up_blame_nobody(honest, tmp_path):
    answer = pkbench("eval", honest, *QUICK, env=fake_judge(tmp_path, "error_at_open"))
    assert answer.status == 6, answer.err
    records = records_of(results_file(honest))
    assert [record["verdict"] for record in records] == ["INFRA_ERROR"] * 3
    assert not any("control" in record for record in records)


def test_ranks_that_always_break_end_the_run(honest, tmp_path):
    environment = fake_judge(tmp_path, "dies_in_attempt")
    answer = pkbench("eval", honest, *QUICK, env=environment)
    assert answer.status == 6, answer.err
    records = records_of(results_file(honest))
    assert [record["verdict"] for record in records] == ["INFRA_ERROR"] * 3
    assert re.search("ended unexpectedly.*control.*fails, too", records[0]["reason"])
    assert records[0]["control"]["verdict"] == "INFRA_ERROR"
    assert "pkbench doctor" in answer.err
    assert "6 without a verdict" in answer.err
    assert "to go on:" in answer.err

    environment["FAKE_JUDGE"] = "correct"
    answer = pkbench("eval", honest, *QUICK, env=environment)
    assert answer.status == 0, answer.err
    records = records_of(results_file(honest))[3:]
    assert [record["sample"] for record in records] == list(range(6))
    assert {record["verdict"] for record in records} == {"CORRECT"}


# ---- folders that are none, and where records go ----


def test_folders_without_attempts(tmp_path):
    demand(pkbench("eval", tmp_path, *QUICK), 2, str(tmp_path), "holds no attempts", "013_x.cu")
    put(tmp_path, "mine.cu", HONEST)
    put(tmp_path, "999_x.cu", HONEST)
    demand(pkbench("eval", tmp_path, *QUICK), 2, "mine.cu", "999_x.cu")
    assert not (tmp_path / "results").exists()


def test_two_files_for_one_sample(tmp_path):
    put(tmp_path, "001_a.cu", HONEST)
    put(tmp_path, "001_b.cu", HONEST)
    demand(pkbench("eval", tmp_path, *QUICK), 2, "001_a.cu", "001_b.cu", "sample 0")


def test_a_file_is_no_folder(tmp_path):
    demand(pkbench("eval", HONEST, *QUICK, "--problems", "1"), 2, "--problems", "folder")
    demand(pkbench("eval", HONEST, *QUICK, "--rejudge", "all"), 2, "--rejudge", "folder")
    put(tmp_path, "001.cu", HONEST)
    demand(pkbench("eval", tmp_path, *QUICK, "-p", "1"), 2, "is a directory", "--problems picks")
    demand(pkbench("eval", tmp_path, *QUICK, "--problems", "x"), 2, "'x'", "category")
    demand(pkbench("eval", tmp_path, *QUICK, "--problems", "13"), 2, "--problems 13")


def test_records_that_cannot_be_stored(tmp_path):
    put(tmp_path, "001.cu", HONEST)
    put(tmp_path, "results", "a file")
    demand(pkbench("eval", tmp_path, *QUICK), 5, "results", "-o", "--no-save")
    demand(pkbench("eval", tmp_path, *QUICK, "-o", "/nowhere/r.jsonl"), 5, "/nowhere/r.jsonl")
    demand(pkbench("eval", tmp_path, *QUICK, "-o", "/dev/full"), 2, "/dev/full", "no ordinary file")
    demand(pkbench("eval", tmp_path, *QUICK, "-o", "x", "--no-save"), 2, "--no-save")


def test_records_do_not_go_through_a_link_in_the_run(tmp_path):
    run, victim = tmp_path / "run", tmp_path / "victim"
    put(run, "001.cu", "")
    assert pkbench("eval", run, *QUICK).status == 0
    victim.write_text("mine {")
    path = results_file(run)
    path.unlink()
    path.symlink_to(victim)
    demand(pkbench("eval", run, *QUICK), 2, path.name, "symbolic link", "-o")
    assert victim.read_text() == "mine {"
    assert pkbench("eval", run, *QUICK, "-o", path).status == 0


def test_what_cannot_be_judged_is_named_and_left(tmp_path):
    put(tmp_path, "001_mine.cu", "")
    put(tmp_path, "013_gemm_allreduce.cu", "binary \0")
    put(tmp_path, "026_moe_token_preprocess.cu", HONEST)
    put(tmp_path, "notes.cu", HONEST)
    answer = pkbench("eval", tmp_path, *QUICK, "-n", "5", "--sizes", "pkb", "--json")
    assert answer.status == 6, answer.err
    assert answer.record["verdict"] == "NO_CODE"
    for word in ("001_mine.cu is judged as 001_allreduce", "notes.cu", "NUL bytes", "E % P == 0",
                 "1 judged, 1 not for these options, 1 without a verdict"):  # fmt: skip
        assert word in answer.err, answer.err
    answer = pkbench("eval", tmp_path, *QUICK, "-n", "5", "--sizes", "pkb", "--problems", "26")
    demand(answer, 2, "E % P == 0")


def test_the_own_examples_stay_as_they_are():
    before = sorted((ROOT / "examples").rglob("*"))
    answer = pkbench("eval", ROOT / "examples", *QUICK, "--problems", "1", "--json")
    assert answer.status == 0, answer.err
    assert answer.record["id"] == "examples/001_allreduce/0/cpu/2"
    assert "not stored" in answer.err
    assert sorted((ROOT / "examples").rglob("*")) == before


def test_files_of_each_attempt_are_kept_apart(tmp_path):
    put(tmp_path, "run/001_allreduce/a.cu", "int broken")
    put(tmp_path, "run/001_allreduce/b.cu", "float broken")
    kept = tmp_path / "kept"
    assert pkbench("eval", tmp_path / "run", *QUICK, "--no-save", "--keep", kept).status == 0
    assert (kept / "001_allreduce" / "0" / "a.cu").read_text() == "int broken"
    assert (kept / "001_allreduce" / "1" / "b.cu").read_text() == "float broken"
    assert not (tmp_path / "run" / "results").exists()
