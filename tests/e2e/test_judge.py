# SPDX-License-Identifier: Apache-2.0
"""Judges, runners and cells together, on attempts without kernels: a C compiler is enough."""

import os
import re
import signal
import subprocess

import pytest

from tests.e2e.judges import BUILD, ROOT, Judges
from tests.e2e.processes import descendants, wait_until

SOURCE = ROOT / "tests" / "e2e" / "attempts" / "host_allreduce.c"
TIMEOUT_S = 3

# What host_allreduce.c does, the verdict it must get, and what its reason must say.
FAULTS = [
    ("NOTHING", "CORRECT", None),
    ("RETURN_AT_ONCE", "WRONG_OUTPUT", r"rank \d.*\by\b.*never written"),
    ("LAST_ELEMENT", "WRONG_OUTPUT", r"rank 1.*y\[36, 28\]"),
    ("ONE_NAN", "WRONG_OUTPUT", r"y\[18, 14\] is nan"),
    ("PAST_END", "OUT_OF_BOUNDS", r"memory right behind the end of argument y"),
    ("BEFORE_START", "OUT_OF_BOUNDS", r"2 bytes before argument x"),
    ("CHANGE_INPUT", "INPUT_MUTATED", r"rank 0.*x\[0, 0\]"),
    ("CHANGE_PEER", "INPUT_MUTATED", r"rank 0.*x\[36, 28\]"),
    ("NO_ENTRY_WAIT", "WRONG_OUTPUT", r"a wait for the peers is missing, at the start or"),
    ("CACHE", "STATE_REPLAY", r"an earlier call"),
    ("RETURN_FAILURE", "CRASH", r"rank 0: pkb_run returned 3"),
    ("RETURN_ON_ONE", "CRASH", r"rank 1: pkb_run returned 3"),
    ("EXIT_CLEAN", "CRASH", r"exited with status 0 in pkb_run"),
    ("SEGFAULT", "CRASH", r"SIGSEGV in pkb_run"),
    ("FORK", "FORBIDDEN_CALL", r"fork"),
    ("HANG", "TIMEOUT", r"did not end within 3 s.*CPU device is slow: raise --timeout$"),
    ("SETUP_FAILS", "CRASH", r"pkb_setup returned 7"),
    ("SAY_DONE", "CRASH", r"exited with status 0"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A function that builds host_allreduce.c doing something, once."""
    folder = tmp_path_factory.mktemp("attempts")

    def build(what: str, linker: str = ""):
        out = folder / f"{what}{linker}.so"
        if not out.exists():
            command = ["gcc", "-shared", "-fPIC", "-O1", f"-DDO={what}", str(SOURCE), "-o"]
            command += [str(out), "-lm", str(BUILD / "lib" / "libcudart.so.13")]
            subprocess.run([*command, *([f"-Wl,{linker}"] if linker else [])], check=True)
        return out

    return build


@pytest.fixture(scope="module")
def judges():
    """Two judges that stay alive: each attempt follows another's remains."""
    with Judges("001_allreduce", 2, TIMEOUT_S) as started:
        started.open()
        yield started


@pytest.mark.parametrize(("what", "verdict", "reason"), FAULTS, ids=[f[0] for f in FAULTS])
def test_gets_its_verdict(judges, built, what, verdict, reason):
    told = judges.attempt(built(what))
    assert told["verdict"] == verdict, told
    assert reason is None or re.search(reason, told["reason"]), told
    assert not [p for p in descendants(judges.process.pid) if "pkbench-cell" in p.command]


def test_a_correct_attempt_has_times_of_all_sizes(judges, built):
    told = judges.attempt(built("NOTHING"))
    assert [size["size"] for size in told["sizes"]] == ["tiny", "tiny_empty", "tiny_row"]
    for size in told["sizes"]:
        speedup = size["speedup"]["eager"]
        assert 0 < speedup["low"] <= speedup["value"] <= speedup["high"]
        assert {batch["side"] for batch in size["batches"]} == {"eager", "attempt"}
        assert all(len(batch["rank_ns"]) == 2 for batch in size["batches"])


@pytest.mark.parametrize(
    ("what", "verdict", "summaries"),
    [
        ("NOTHING", "CORRECT", ["0", "0", "0"]),
        ("RETURN_FAILURE", "CRASH", ["0"]),
        ("SEGFAULT", "CRASH", ["139"]),
        ("HANG", "TIMEOUT", ["137"]),
    ],
)
def test_a_debugged_rank_runs_under_a_tool_that_has_the_last_word(
    judges, built, what, verdict, summaries
):
    tool = {"rank": 1, "program": str(ROOT / "tests/fakes/compute-sanitizer"), "tool": "synccheck"}
    log = judges.work / "debug.txt"
    log.unlink(missing_ok=True)
    told = judges.attempt(built(what), debug=tool, time=False)
    assert told["verdict"] == verdict, told
    text = log.read_text()
    assert re.findall(r"SUMMARY: status (\d+)", text) == summaries
    assert text.startswith("---- rank 1, size tiny ----\n========= FAKE SANITIZER (synccheck)\n")
    assert not [p for p in descendants(judges.process.pid) if "pkbench-cell" in p.command]


def test_a_debugger_that_does_not_start_is_told(built):
    with Judges("001_allreduce", 2, TIMEOUT_S) as judges:
        judges.open()
        with pytest.raises(AssertionError, match=r"cannot run|the cell did not start"):
            judges.attempt(built("NOTHING"), debug={"rank": 0, "program": "/nowhere/tool"})


def test_only_the_sizes_asked_for_are_judged(judges, built):
    told = judges.attempt(built("NOTHING"), sizes=["tiny_row"], time=False)
    assert [size["size"] for size in told["sizes"]] == ["tiny_row"]
    assert "speedup" not in told["sizes"][0]


def test_a_size_may_have_a_limit_of_its_own(judges, built):
    told = judges.attempt(built("HANG"), timeouts=[1.5, 100, 100])
    assert told["verdict"] == "TIMEOUT"
    assert "did not end within 1.5 s" in told["reason"]


@pytest.mark.parametrize("level", ["none", "full"])
def test_a_sandbox_level_changes_no_verdict(judges, built, level):
    assert judges.attempt(built("NOTHING"), level)["verdict"] == "CORRECT"
    assert judges.attempt(built("SEGFAULT"), level)["where"]["signal"] == signal.SIGSEGV


# In a process that serves all sizes (level none, or GPUs): what host_allreduce.c does, which of
# three sizes are judged in the process of the one before, and why the others are not.
STAYS = [
    ("NOTHING", [False, True, True], None),
    ("KEEP_STATICS", [False, True, True], None),
    ("KEEP_ADDRESS", [False, True, True], None),
    ("READ_SOCKET", [False, True, True], None),
    ("KEEP_SETTING", [False, False, False], None),
    # It may also run on into what is unloaded, before it is stopped and counted.
    ("LEAVE_THREAD", [False, False, False], r"after size tiny: .*(threads are left: 1|it ended)"),
    ("STEAL_OPENING", [False, False, False], r"after size tiny: .*threads are left: 1"),
    ("LEAVE_MEMORY", [False, False, False], r"after size tiny: .*3\d\d MiB of memory are left"),
    (
        "CRASH_UNLOADED",
        [False, False, False],
        r"after size tiny: .*ended when it was to be unloaded",
    ),
    ("NOTHING -z,nodelete", [False, False, False], r"after size tiny: .*cannot be unloaded"),
]


@pytest.mark.parametrize(("what", "reused", "why"), STAYS, ids=[stay[0] for stay in STAYS])
def test_a_process_serves_another_size_if_nothing_is_left_in_it(judges, built, what, reused, why):
    for rank in range(2):
        (judges.work / f"rank{rank}.txt").unlink(missing_ok=True)
    told = judges.attempt(built(*what.split()), "none", time=False)
    assert told["verdict"] == "CORRECT", told
    assert [size.get("reused_cell", False) for size in told["sizes"]] == reused
    for rank in range(2):
        log = judges.work / f"rank{rank}.txt"
        text = log.read_text() if log.exists() else ""
        assert re.search(why, text) if why else "process was ended" not in text
    assert not [p for p in descendants(judges.process.pid) if "pkbench-cell" in p.command]


def test_a_cell_whose_opening_is_stolen_unseen_is_replaced(judges, built):
    log = judges.work / "rank0.txt"
    log.unlink(missing_ok=True)
    told = judges.attempt(built("STEAL_UNSEEN"), "none", time=False, sizes=["tiny", "tiny_row"])
    assert told["verdict"] == "CORRECT", told
    assert not any("reused_cell" in size for size in told["sizes"])
    assert "before size tiny_row: its process was ended: the cell is not ready" in log.read_text()


def test_within_the_cpu_device_s_sandbox_each_size_has_a_process(judges, built):
    told = judges.attempt(built("KEEP_SETTING"), "full", time=False)
    assert told["verdict"] == "CORRECT", told
    assert not any("reused_cell" in size for size in told["sizes"])


def test_what_is_wrong_at_one_size_has_a_new_process_at_the_next(judges, built):
    told = judges.attempt(built("ONE_NAN"), "none", time=False)
    verdicts = [size["verdict"] for size in told["sizes"]]
    assert verdicts == ["WRONG_OUTPUT", "CORRECT", "WRONG_OUTPUT"]
    assert not any("reused_cell" in size for size in told["sizes"])


def test_a_crash_in_a_process_that_served_a_size_names_its_own(judges, built):
    told = judges.attempt(built("CRASH_WHEN_EMPTY"), "none", time=False)
    assert told["verdict"] == "CRASH", told
    assert [size["verdict"] for size in told["sizes"]] == ["CORRECT", "CRASH"]
    assert told["sizes"][1]["size"] == "tiny_empty"
    assert told["sizes"][1]["reused_cell"]
    assert re.search(r"rank \d: .*SIGABRT in pkb_run \(trial 1", told["reason"]), told


@pytest.mark.parametrize("world", [1, 3, 4])
def test_worlds_of_other_sizes(built, world):
    with Judges("001_allreduce", world, TIMEOUT_S) as judges:
        judges.open()
        assert judges.attempt(built("NOTHING"))["verdict"] == "CORRECT"
        if world > 1:
            assert judges.attempt(built("NO_ENTRY_WAIT"))["verdict"] == "WRONG_OUTPUT"


@pytest.mark.parametrize("victim", ["evaluator", "mpirun", "judge", "judge by SIGTERM", "runner"])
def test_nothing_outlives(built, victim):
    with Judges("001_allreduce", 2, timeout_s=60) as judges:
        judges.open()
        empty = judges.work / "empty.so"
        empty.touch()
        judges.send(verb="attempt", id="t", host=str(built("HANG")), device=str(empty))
        assert wait_until(
            lambda: sum("pkbench-cell" in p.command for p in descendants(judges.process.pid)) >= 2
        )
        tree = descendants(judges.process.pid)
        if victim == "evaluator":
            for channel in judges.channels.values():
                channel.close()
            judges.channels.clear()
        elif victim == "mpirun":
            judges.process.kill()
        elif victim == "runner":
            os.kill(next(p.pid for p in tree if "harness.runner" in p.command), signal.SIGKILL)
        else:
            os.kill(judges.pids[1], signal.SIGTERM if "SIGTERM" in victim else signal.SIGKILL)
        alive = [p for p in tree if not wait_until(lambda p=p: not p.is_alive())]
        assert alive == []  # long before the attempt's own limit of 60 s


def test_a_judge_tells_its_own_failure(built):
    with Judges("001_allreduce", 2, TIMEOUT_S) as judges:
        judges.send(verb="open", plan="/nowhere/plan.json", secret="0" * 64)
        with pytest.raises(AssertionError, match=r"/nowhere/plan\.json"):
            judges.wait_for("opened", 2)
