# SPDX-License-Identifier: Apache-2.0
"""What the soak relies on, without a run: its corpus, how it compares, counts and chooses."""

import os
import random
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.processes import Process, descendants, wait_until
from tests.gpu.measure import sixty
from tests.soak import census, corpus, kills, records, worker
from tests.soak.cpu import CpuGroup
from tests.soak.place import Place
from tests.soak.variants import count_of, problem_of
from tests.soak.victims import EVALUATOR, Part, Victims, kind, parts


def record(problem="001_allreduce", source="a.cu", verdict="CORRECT", **more) -> dict:
    identity = {"id": f"run/{problem}/{source}", "problem": problem, "source": source}
    return {**identity, "verdict": verdict, "cost_s": {"compile": 1.0}, "secret": "ab", **more}


# ---- what is judged ----


def test_there_are_two_hundred_attempts_at_all_problems():
    attempts = corpus.attempts()
    assert len(attempts) >= 200
    assert {one.problem for one in attempts} == {one.stem for one in corpus.EXAMPLES}
    verdicts = Counter(one.verdict for one in attempts)
    assert verdicts["CORRECT"] >= len(corpus.EXAMPLES)
    assert len(verdicts) > 10


@pytest.mark.parametrize("example", corpus.EXAMPLES, ids=lambda path: path.stem)
def test_counts_of_elements_are_made_of_what_pkb_args_holds(example):
    problem = problem_of(example)
    fields = {*problem["dims"], *(name for size in problem["sizes"] for name in size["values"])}
    for argument in problem["arguments"]:
        if argument["role"] in ("in", "out"):
            named = set(re.findall(r"args->(\w+)", count_of(argument)))
            assert named <= fields, argument["name"]


def test_a_worker_gets_all_and_then_what_is_quick_in_another_order():
    planned = worker.schedule(500, seed=1)
    assert len(planned) == 500
    assert len({one.path for one in planned[:200]}) == 200
    assert not [one for one in planned[210:] if "hangs" in one.name]
    some = worker.schedule(300, seed=1, every=3)
    assert len({one.path for one in some}) == len(corpus.attempts()[::3])


def test_sixty_are_of_each_problem():
    chosen = sixty.chosen()
    assert len(chosen) == 60
    assert {one.problem for one in chosen} == {one.stem for one in corpus.EXAMPLES}


def test_what_is_not_as_demanded_is_a_fault():
    attempt = corpus.Attempt("001_allreduce", "a.cu", b"", "CRASH|TIMEOUT", r"rank \d")
    assert records.fault(attempt, record(verdict="CRASH", reason="rank 1 fell")) is None
    assert "wanted CRASH" in records.fault(attempt, record())
    assert "wanted a reason" in records.fault(attempt, record(verdict="CRASH", reason="rank x"))
    assert "no record" in records.fault(attempt, None)


# ---- equal records ----


def test_times_and_draws_do_not_count_and_all_else_does():
    one = record(sizes=[{"size": "tiny", "verdict": "CORRECT", "cost_s": {"check": 1}}])
    other = record(sizes=[{"size": "tiny", "verdict": "CORRECT", "cost_s": {"check": 2}}])
    other |= {"secret": "cd", "cost_s": {"compile": 7.0}}
    assert records.differences(records.core(one), records.core(other)) == []
    other["sizes"][0]["verdict"] = "CRASH"
    (found,) = records.differences(records.core(one), records.core(other))
    assert found.startswith("sizes.0.verdict: 'CORRECT' / 'CRASH'")


def test_after_kills_the_later_line_counts_and_no_verdict_comes_twice():
    right, wrong = record(), record(source="b.cu", verdict="WRONG_OUTPUT")
    pending = record(verdict="INFRA_ERROR")
    assert kills.compare([right, wrong], [pending, wrong, right]) == []
    assert kills.compare([right, wrong], [right]) == ["run/001_allreduce/b.cu: no record"]
    assert "judged twice" in kills.compare([right], [right, right])[0]
    assert "verdict" in kills.compare([wrong], [{**wrong, "verdict": "CRASH"}])[0]


# ---- does it grow? ----


def rows(values) -> list[dict]:
    return [{"attempts": 50 * i, "judge 7 fds": value} for i, value in enumerate(values)]


def test_a_leak_is_told_from_noise():
    noise = random.Random(3)
    steady = rows(30 + noise.choice((-1, 0, 1)) for _ in range(20))
    leaking = rows(30 + 2 * i + noise.choice((-1, 0, 1)) for i in range(20))
    assert census.leaks(census.trends(steady)) == []
    (found,) = census.leaks(census.trends(leaking))
    assert found.startswith("grows: judge 7 fds: 3")
    assert census.trends(leaking)["judge 7 fds"].slope == pytest.approx(4, abs=0.3)


def test_a_cache_may_grow_and_few_points_say_nothing():
    grown = [{"attempts": 50 * i, "cache bytes": 1 << (20 + i)} for i in range(9)]
    assert census.leaks(census.trends(grown)) == []
    assert census.trends(rows([1, 2, 3])) == {}


def test_a_census_counts_what_a_process_holds(tmp_path):
    (tmp_path / "file").write_text("x")
    before = census.take(os.getpid(), tmp_path, tmp_path, 1)
    with open(tmp_path / "file") as _, subprocess.Popen(["sleep", "60"]) as child:
        after = census.take(os.getpid(), tmp_path, tmp_path, 2)
        child.kill()
        # It is waited for below.
        assert wait_until(lambda: census.zombies(os.getpid()) > before["zombies"])
    mine = f"{EVALUATOR} {os.getpid()}"
    assert after["processes"] == before["processes"] + 1
    assert after[f"{mine} fds"] > before[f"{mine} fds"]
    assert after[f"{mine} pss_kib"] > 1000
    assert (after["work entries"], after["zombies"]) == (1, before["zombies"])


def test_who_was_counted_is_where_it_was_before():
    before = Path("/proc/self/cgroup").read_text()
    with CpuGroup() as group:
        spent = group.seconds()
        assert spent is None or Path("/proc/self/cgroup").read_text() != before
    assert Path("/proc/self/cgroup").read_text() == before


# ---- whom to kill ----


def test_processes_are_named_by_what_they_are():
    commands = {
        "/usr/bin/mpirun -n 2 /x/build/pkbench-judge --work /tmp/w": "mpirun",
        "/x/build/pkbench-judge --work /tmp/w": "judge",
        "/x/.venv/bin/python -m harness.runner --fd 3": "runner",
        "/x/.venv/bin/python -m harness.runner.resolve 001": "resolver",
        "/usr/bin/bwrap --unshare-all -- /pkb/pkbench-cell --fd 3": "bwrap of a cell",
        "/usr/bin/bwrap --unshare-all -- prlimit -- sh -c nvcc": "bwrap of a compiler",
        "/pkb/pkbench-cell --fd 3": "cell",
        "/x/build/pkbench eval run --device cpu": "fork",
        "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus -quiet": "cc1plus",
    }
    for command, name in commands.items():
        assert kind(Process(1, "0", command)) == name


def test_rare_victims_are_preferred_and_some_are_spared():
    victims = Victims(seed=1)
    with subprocess.Popen(["sh", "-c", "sleep 30; :"]) as child:
        assert wait_until(lambda: descendants(child.pid) != [], 30)
        victims.hits.update({EVALUATOR: 10**6})
        assert victims.choose(child.pid, set(), is_late=False)[0] == "sleep"
        spent = {Part.RANKS, Part.BUILD}
        chosen = [victims.choose(child.pid, spent, is_late=False) for _ in range(20)]
        assert {one and one[0] for one in chosen} <= {None, EVALUATOR}
        assert None in chosen
        for _ in range(20):  # it must not wait
            assert victims.choose(child.pid, spent, is_late=True)[0] == EVALUATOR
        name, part, process = victims.choose(child.pid, set(), is_late=False)
        assert part is Part.BUILD
        assert victims.kill(name, process)
        child.wait()
        assert not victims.kill(name, process)
    assert victims.hits["sleep"] == 1


def test_what_compiles_ahead_may_be_hit_at_any_time():
    """Also what is below its sandbox, and the fork around it; what compiles now may not."""
    sandbox = "exec -a bwrap sh -c 'sleep 30; :' bwrap --bind /tmp/x/{} /pkb/build"
    fork = f'exec -a pkbench bash -c "{sandbox.format("ahead-2")} & wait"'
    script = f"({fork}) & ({sandbox.format('build')}) & wait"
    with subprocess.Popen(["bash", "-c", script], start_new_session=True) as child:
        try:
            assert wait_until(lambda: [one[0] for one in parts(child.pid)].count("sleep") == 2, 30)
            told = Counter((name, part) for name, part, _ in parts(child.pid))
        finally:
            os.killpg(child.pid, 9)
    assert told == {
        ("fork", Part.FREE): 1,
        ("bwrap of a compiler", Part.FREE): 1,
        ("bwrap of a compiler", Part.BUILD): 1,
        ("sleep", Part.FREE): 1,
        ("sleep", Part.BUILD): 1,
        (EVALUATOR, Part.FREE): 1,
    }


def test_kills_are_spread_over_the_records(tmp_path):
    """Those that are missing before the next record, however few came before the others."""
    place = Place(tmp_path)
    siege = kills.Siege(place, tmp_path, Victims(seed=1), pause_s=1)
    assert siege.due(wanted=100, attempts=20) == 5
    assert 1 < max(siege.pause(100, 20) for _ in range(200)) <= 2
    siege.victims.hits["judge"] = 5
    assert siege.due(wanted=100, attempts=20) == 0
    siege.path.write_text("{}\n" * 3)
    assert siege.due(wanted=100, attempts=20) == 15
    assert max(siege.pause(100, 20) for _ in range(200)) <= 2 / 3
    siege.path.write_text("{}\n" * 19)
    siege.victims.hits["judge"] = 99
    assert max(siege.pause(100, 20) for _ in range(200)) <= 2 / 3
    siege.victims.hits["judge"] = 5
    siege.path.write_text("{}\n" * 22)  # with lines that another one replaces
    assert siege.due(wanted=100, attempts=20) == 95
    place.until = 0
    assert siege.due(wanted=100, attempts=20) == 0
    shutil.rmtree(place.work)
    shutil.rmtree(place.cache)


# ---- sixty attempts on GPUs ----


def test_a_table_says_where_the_time_goes():
    costs = {"compile": 1.0, "check": 2.0}
    made = [
        record(wall_s=9.0, cost_s={"start": 5.0, **costs}),
        record(wall_s=4.0, cost_s=costs),
        record(problem="002_allgather", wall_s=6.0, cost_s=costs, verdict="CRASH"),
    ]
    lines = sixty.cost_table(made).splitlines()
    cells = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in lines}
    assert [float(cell) for cell in cells["the first"]] == [1, 9, 1, 5, 0, 0, 2, 0, 0, 1]
    assert [float(cell) for cell in cells["all others"]] == [2, 5, 1, 0, 0, 0, 2, 0, 0, 2]
    assert float(cells["later of its problem"][1]) == 4
    assert float(cells["CRASH"][-1]) == 3
    assert sixty.cost_table([]) == "no record came\n"
