# SPDX-License-Identifier: Apache-2.0
"""Several worlds side by side: each attempt gets its record once, whoever dies."""

import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.command import PKBENCH, pkbench
from tests.e2e.fake_tools import fake_judge, fake_nvcc
from tests.e2e.processes import HUNG_S, descendants, kill, wait_until
from tests.e2e.runs import records_of, results_file

TWO = ("--device", "cpu", "--sizes", "tiny", "--worlds", "2")
SOURCE = 'extern "C" int pkb_run(void) { return 0; }'
COUNT = 8


@pytest.fixture
def folder(tmp_path) -> Path:
    """Different attempts, and behind them one that is equal to the last."""
    samples = tmp_path / "run" / "samples" / "001_allreduce"
    samples.mkdir(parents=True)
    for number in range(COUNT):
        (samples / f"{number}.cu").write_text(f"{SOURCE} // {number}")
    (samples / f"{COUNT}.cu").write_text(f"{SOURCE} // {COUNT - 1}")
    return tmp_path / "run"


def fakes(tmp_path: Path, mode: str) -> dict[str, str]:
    return {**fake_judge(tmp_path, mode), **fake_nvcc(tmp_path)}


def has_ranks(process) -> bool:
    return any("mpirun" in one.command for one in descendants(process.pid))


def demand_all(records: list[dict]) -> None:
    assert sorted(one["sample"] for one in records) == list(range(COUNT + 1))
    assert {one["verdict"] for one in records} == {"CORRECT"}
    (copy,) = [one for one in records if "same_as" in one]
    assert copy["sample"] in (COUNT - 1, COUNT)


def test_worlds_share_the_work_and_time_in_turns(folder, tmp_path):
    answer = pkbench("eval", folder, *TWO, env=fakes(tmp_path, "logs_turns"))
    assert answer.status == 0, answer.err
    records = records_of(results_file(folder))
    demand_all(records)
    assert Counter("start" in one.get("cost_s", {}) for one in records)[True] == 2
    assert {one["flags"]["neighbours"] for one in records} == {"turns"}
    assert (tmp_path / "mark.log").read_text().split() == ["begin", "end"] * COUNT
    assert f"{COUNT + 1} attempts: {COUNT} judged, 1 equal to others" in answer.err


def test_worlds_time_apart_where_that_is_asked_for(folder, tmp_path):
    """Each waits for another that times at the same time. Without a cache nothing is compiled
    ahead: on few cores that stands still while one times, and the other may wait for it.
    """
    env = fakes(tmp_path, "meets_in_turns")
    answer = pkbench("eval", folder, *TWO, "--timing", "apart", "--no-cache", env=env)
    assert answer.status == 0, answer.err
    demand_all(records_of(results_file(folder)))
    assert (tmp_path / "mark.log").read_text().split()[:2] == ["begin", "begin"]
    assert {one["flags"]["neighbours"] for one in records_of(results_file(folder))} == {"apart"}


def test_a_turn_for_ranks_that_have_died_goes_to_others(folder, tmp_path):
    answer = pkbench("eval", folder, *TWO, "--samples", "0-2", env=fakes(tmp_path, "dies_asking"))
    assert answer.status == 0, answer.err
    records = {one["sample"]: one for one in records_of(results_file(folder))}
    assert [records[k]["verdict"] for k in range(3)] == ["CORRECT"] * 3
    assert records[1]["control"]["verdict"] == "CORRECT"


def test_one_world_has_no_neighbours(folder, tmp_path):
    answer = pkbench("eval", folder, *TWO[:-2], env=fakes(tmp_path, "logs_turns"))
    assert answer.status == 0, answer.err
    assert [one["sample"] for one in records_of(results_file(folder))] == list(range(COUNT + 1))
    assert not any("neighbours" in one["flags"] for one in records_of(results_file(folder)))


@pytest.mark.parametrize("victim", ["lane", "mpirun", "pkbench-judge"])
def test_a_world_that_dies_loses_nothing(folder, tmp_path, victim):
    env = {**os.environ, **fakes(tmp_path, "waits_for_mark")}
    run = subprocess.Popen(
        [PKBENCH, "eval", folder, *TWO],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=env,
    )

    def found() -> list:
        tree = descendants(run.pid)
        if victim == "lane":
            return [p for p in tree if "pkbench eval" in p.command and has_ranks(p)]
        return [p for p in tree if victim in " ".join(p.command.split()[:2])]

    try:
        assert wait_until(
            lambda: "pkbench-judge --work" in str(descendants(run.pid)) and found() != []
        ), "no ranks came up"
        kill(found()[-1])
        (tmp_path / "mark").touch()
        _, err = run.communicate(timeout=HUNG_S)
    finally:
        run.kill()
    assert run.returncode == 0, err
    assert (b"the process of a world is replaced" in err) == (victim == "lane")
    demand_all(records_of(results_file(folder)))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_worlds(folder, tmp_path, number):
    """SIGINT behind what is under way, SIGTERM at once."""
    env = {**os.environ, **fakes(tmp_path, "waits_for_mark")}
    run = subprocess.Popen([PKBENCH, "eval", folder, *TWO], stderr=subprocess.PIPE, env=env)
    try:
        assert wait_until(
            lambda: len([p for p in descendants(run.pid) if "mpirun" in p.command]) >= 2
        )
        tree = descendants(run.pid)
        run.send_signal(number)
        if number == signal.SIGINT:
            (tmp_path / "mark").touch()
        _, err = run.communicate(timeout=HUNG_S)
    finally:
        run.kill()
    assert run.returncode == 130, err
    assert [p for p in tree if not wait_until(lambda p=p: not p.is_alive())] == []
    files = list((folder / "results").glob("*"))
    assert [len(records_of(file)) for file in files] == ([2] if number == signal.SIGINT else [])


def test_worlds_that_cannot_be(folder):
    for words, expected in {
        ("--worlds", "0"): "--worlds wants a number from 1 to 64",
        ("--timing", "never"): "--timing is turns or apart",
    }.items():
        answer = pkbench("eval", folder, *words)
        assert answer.status == 2
        assert expected in answer.err
    for words in (("--worlds", "2"), ("--timing", "turns")):
        answer = pkbench("eval", next(folder.rglob("*.cu")), *words)
        assert answer.status == 2
        assert "goes with a folder" in answer.err
