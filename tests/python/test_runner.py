# SPDX-License-Identifier: Apache-2.0
"""Runners end to end: real processes, sockets and memory, opposite a judge for tests."""

import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from harness.runner.audit.scene import same_bits
from harness.runner.case import Case, RankInputs
from harness.runner.page import ANSWER_EXCEPTION, ANSWER_OK, COMMAND_EXIT, COMMAND_RUN
from harness.runner.problem import ROOT, find, load
from harness.runner.resolve import Resolved, resolve_all
from tests.python.judge import Judge

SECRET = "5e" * 32
WORLD = 2
DIE_QUICKLY_S = 15  # a collective's own limit is 20 s


def resolved_size(problem, size: str, shape: str = "") -> Resolved:
    return resolve_all(problem, problem.size(size), WORLD, shape)[0]


def open_all(judges: list[Judge], resolved: Resolved, store: Path, **changes) -> list[dict]:
    for judge in judges:
        judge.send_open(resolved, str(store), SECRET, **changes)
    return [judge.answer() for judge in judges]


def ask_all(judges: list[Judge], verb: str, **fields) -> list[dict]:
    for judge in judges:
        judge.send(verb, **fields)
    return [judge.answer() for judge in judges]


def start(count: int = WORLD) -> list[Judge]:
    return [Judge(rank, WORLD) for rank in range(count)]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("store") / "store"


@pytest.fixture(scope="module")
def pair(store):
    """Two runners that live through the tests of this module, as they do for a judge."""
    judges = start()
    yield judges
    for judge in judges:
        judge.kill()


@pytest.fixture
def fresh():
    """Two runners for a test that breaks them."""
    judges = start()
    yield judges
    for judge in judges:
        judge.kill()


@pytest.fixture
def failing(tmp_path):
    """A problem whose reference raises in family "integers", on rank 1 only, and writes nothing in
    family "offset"."""
    for folder, suffix in (("problems", "json"), ("references", "py")):
        (tmp_path / folder).mkdir()
        shutil.copy(ROOT / folder / f"001_allreduce.{suffix}", tmp_path / folder)
    path = tmp_path / "references" / "001_allreduce.py"
    text = path.read_text().replace(
        '    y = ctx.out("y")\n',
        '    if ctx.rank == 1 and ctx.family == "integers":\n'
        '        raise ArithmeticError("no luck today")\n'
        '    if ctx.family == "offset":\n'
        '        return {"y": ctx.out("y")}\n'
        '    y = ctx.out("y")\n',
    )
    assert "no luck" in text
    path.write_text(text)
    return load(tmp_path / "problems" / "001_allreduce.json")


def local(resolved: Resolved, rank: int, trial: int, family: str):
    """(drawn size, own inputs, expected outputs) as they must come out of a runner."""
    case = Case(resolved, SECRET)
    seed = case.seed(trial, family)
    drawn = case.resolve(seed)
    own = case.draw(rank, seed)
    inputs = RankInputs(case, seed, rank, own)
    return drawn, own, case.run_oracle(case.context(drawn, rank, seed), drawn, inputs)


def mapped_regions(judge: Judge) -> int:
    """How many of the judge's regions its runner has mapped."""
    maps = Path(f"/proc/{judge.process.pid}/maps").read_text().splitlines()
    return len({line.split()[4] for line in maps if "memfd:" in line})


def check_entry(judge: Judge, entry: int, trial: int, family: str) -> None:
    """Inputs and expectations of an entry are what they are when computed here."""
    drawn, own, expected = local(judge.resolved, judge.rank, trial, family)
    for name, tensor in own.tensors.items():
        assert same_bits(judge.tensor("inputs", entry, name, drawn), tensor), name
    for name, value in expected.items():
        if name.endswith("_alt"):
            continue
        argument = drawn.problem.argument(name)
        area = judge.tensor("oracle", entry, name, drawn)
        output = judge.tensor("reference", entry, name, drawn)
        if argument.count:
            area, output = area[: len(value)], output[: len(value)]
        assert same_bits(area, value), name
        wide = output.to(value.dtype)
        if value.dtype in (torch.float64, torch.complex128):
            assert torch.allclose(wide, value, rtol=0.02, atol=0.02), name
        else:
            assert same_bits(wide, value), name


def run_batch(judges: list[Judge], slots: list[int], entries: list[int]) -> None:
    """Two rounds of a batch, filled anew between them; each must give the reference's outputs."""
    assert ask_all(judges, "batch", slots=slots, entries=entries) == [{"ok": True}] * WORLD
    for poison in (0x5A, 0xC3):
        for judge in judges:
            for slot, entry in zip(slots, entries, strict=True):
                judge.fill_slot(slot, entry, poison)
        numbers = [judge.go(COMMAND_RUN) for judge in judges]
        for judge, number in zip(judges, numbers, strict=True):
            judge.wait_done(number)
            assert judge.page.answer == ANSWER_OK
            check_slots(judge, slots, entries)
    numbers = [judge.go(COMMAND_EXIT) for judge in judges]
    for judge, number in zip(judges, numbers, strict=True):
        judge.wait_done(number)


def check_slots(judge: Judge, slots: list[int], entries: list[int]) -> None:
    for slot, entry in zip(slots, entries, strict=True):
        for argument in judge.resolved.problem.outputs:
            if judge.resolved.present(argument, judge.rank) and not argument.count:
                wanted = judge.tensor("reference", entry, argument.name)
                assert same_bits(judge.tensor("slot", slot, argument.name), wanted), argument.name


@pytest.mark.parametrize(
    ("number", "size", "family"),
    [("13", "tiny", "nominal"), ("1", "tiny", "integers"), ("1", "tiny_empty", "nominal"),
     ("26", "tiny", "ragged"), ("26", "tiny_empty", "nominal"), ("13", "tiny_row", "outliers")],
)  # fmt: skip
def test_life_of_a_size(pair, store, number, size, family):
    resolved = resolved_size(load(find(number)), size)
    assert open_all(pair, resolved, store) == [{"ok": True}] * WORLD
    for entry, trial in ((0, 5), (3, 6)):
        answers = ask_all(pair, "draw", entry=entry, trial=trial, family=family)
        assert answers == [{"ok": True, "scalars": {}, "dims": {}, "shapes": {}}] * WORLD
    for entry, trial in ((3, 6), (0, 5)):
        assert ask_all(pair, "expect", entry=entry) == [{"ok": True}] * WORLD
        for judge in pair:
            check_entry(judge, entry, trial, family)
    run_batch(pair, [0, 2, 1], [3, 0, 3])
    # Outputs and guards: whatever is no input was left alone in the inputs image.
    for judge in pair:
        output = resolved.problem.outputs[0].name
        assert not judge.tensor("inputs", 0, output).view(-1).view(torch.uint8).any()


@pytest.mark.parametrize("shape", ["cp1xtp2", "cp2xtp1"])
def test_every_feature(pair, store, everything, shape):
    resolved = resolved_size(everything, "tiny", shape)
    assert open_all(pair, resolved, store) == [{"ok": True}] * WORLD
    answers = ask_all(pair, "draw", entry=1, trial=2, family="nominal")
    assert answers[0]["scalars"] == answers[1]["scalars"]
    assert answers[0]["scalars"]["step"] == 7
    assert answers[0]["dims"]["total"] == sum(answer["dims"]["n"] for answer in answers)
    for answer in answers:
        total, n = answer["dims"]["total"], answer["dims"]["n"]
        assert answer["shapes"] == {"x": [n, 5], "kept": [total, 5]}
    assert ask_all(pair, "expect", entry=1) == [{"ok": True}] * WORLD
    for judge in pair:
        check_entry(judge, 1, 2, "nominal")
        # The other acceptable codes follow the codes.
        place = judge.layout["entry_stride"] + judge.layout["oracle_offset"]
        place += judge.offsets["code"]["oracle_offset"] + 256
        alternative = judge.pool.view(place, [5], torch.float8_e4m3fn)
        assert same_bits(alternative, judge.tensor("oracle", 1, "code"))
        # An inout keeps its input for the next time.
        w = local(resolved, judge.rank, 2, "nominal")[1]["w"]
        assert same_bits(judge.tensor("inputs", 1, "w"), w)
    run_batch(pair, [1, 0], [1, 1])


def test_a_released_size_is_open_no_more(pair, store):
    resolved = resolved_size(load(find("1")), "tiny")
    for _ in range(2):
        assert open_all(pair, resolved, store) == [{"ok": True}] * WORLD
        assert mapped_regions(pair[0]) == 3
        assert ask_all(pair, "release") == [{"ok": True}] * WORLD
        assert mapped_regions(pair[0]) == 0
        answer = pair[0].ask("draw", entry=0, trial=0, family="nominal")
        assert answer["error"]["code"] == "not_open"
    assert ask_all(pair, "release") == [{"ok": True}] * WORLD  # nothing is open


def test_a_runner_describes_itself(pair):
    answer = pair[0].ask("describe")
    assert answer == {"ok": True, "reference": {"torch": torch.__version__, "threads": 1}}


def test_bad_requests_are_answered_and_survived(pair, store):
    judge = pair[0]
    resolved = resolved_size(load(find("1")), "tiny")
    assert open_all(pair, resolved, store) == [{"ok": True}] * WORLD
    cases = [
        ({"verb": "dance"}, "verb", "there is no verb 'dance', only open, draw"),
        ({}, "verb", "there is no verb None"),
        ({"verb": "draw", "entry": 0, "trial": 0, "family": "odd"}, None, "no input family 'odd'"),
        ({"verb": "draw", "entry": 9, "trial": 0, "family": "nominal"}, None, "no entry 9"),
        ({"verb": "draw", "entry": 0}, None, "'trial'"),
        ({"verb": "expect", "entry": 2}, None, "nothing was drawn into entry 2"),
        ({"verb": "batch", "slots": [7], "entries": [0]}, None, "no slot 7"),
        ({"verb": "batch", "slots": [0, 1], "entries": [0]}, None, "2 slots and 1 entries"),
        ({"verb": "open"}, None, "0 descriptors instead of 3"),
    ]
    for request, code, message in cases:
        verb = request.pop("verb", None)
        answer = judge.ask(verb, **request)
        assert answer["ok"] is False
        assert message in answer["error"]["message"]
        assert code in (None, answer["error"]["code"])
        assert "Traceback" in answer["error"]["traceback"]
    assert judge.ask("draw", entry=0, trial=0, family="nominal")["error"]["code"] == "not_open"

    for text, message in ((b"{", "is not JSON"), (b"[1]", "is not a JSON object")):
        judge.channel.send(text)
        assert message in judge.answer()["error"]["message"]
    answers = open_all([judge], resolved, store, size="giant")
    assert "has no size 'giant'" in answers[0]["error"]["message"]
    answers = open_all([judge], resolved, store, problem_file="/nowhere.json")
    assert "cannot read /nowhere.json" in answers[0]["error"]["message"]
    small = {**judge.layout, "page_bytes": 4096, "pool_bytes": 1 << 40}
    answers = open_all([judge], resolved, store, layout=small)
    assert "cannot map 1099511627776 bytes" in answers[0]["error"]["message"]
    assert open_all(pair, resolved, store) == [{"ok": True}] * WORLD


def test_exception_in_a_reference(fresh, failing, tmp_path):
    """On one rank: that rank says so; the other's collective ends at its time limit or before."""
    resolved = resolved_size(failing, "tiny")
    assert open_all(fresh, resolved, tmp_path / "store") == [{"ok": True}] * WORLD
    for family, entry in (("integers", 0), ("nominal", 1)):
        ask_all(fresh, "draw", entry=entry, trial=0, family=family)
    answer = fresh[1].ask("expect", entry=0)
    assert answer["error"]["message"] == "ArithmeticError: no luck today"
    assert "001_allreduce.py" in answer["error"]["traceback"]

    fresh[1].ask("batch", slots=[0], entries=[0])
    fresh[1].wait_done(fresh[1].go(COMMAND_RUN))
    assert fresh[1].page.answer == ANSWER_EXCEPTION
    assert fresh[1].page.text == b"ArithmeticError: no luck today"
    assert fresh[1].answer()["error"]["message"] == "ArithmeticError: no luck today"
    assert ask_all(fresh, "expect", entry=1) == [{"ok": True}] * WORLD


def test_what_a_reference_leaves_is_no_number(pair, failing, store):
    """Else it would count as the reference's own error, of which an attempt may have as much."""
    resolved = resolved_size(failing, "tiny")
    assert open_all(pair, resolved, store) == [{"ok": True}] * WORLD
    for family, is_left in (("nominal", False), ("offset", True)):
        ask_all(pair, "draw", entry=0, trial=0, family=family)
        assert ask_all(pair, "expect", entry=0) == [{"ok": True}] * WORLD
        for judge in pair:
            assert bool(judge.tensor("reference", 0, "y").isnan().all()) == is_left


def test_close_ends_with_status_0(fresh, tmp_path):
    """And nothing was printed, deprecations of newer torch included."""
    resolved = resolved_size(load(find("26")), "tiny")
    assert open_all(fresh, resolved, tmp_path / "store") == [{"ok": True}] * WORLD
    ask_all(fresh, "draw", entry=0, trial=0, family="nominal")
    assert ask_all(fresh, "expect", entry=0) == [{"ok": True}] * WORLD
    assert ask_all(fresh, "close") == [{"ok": True}] * WORLD
    for judge in fresh:
        assert judge.wait_exit() == 0
        assert judge.process.stderr.read() == b""


def test_killed_peer_ends_a_collective(fresh, tmp_path):
    resolved = resolved_size(load(find("1")), "tiny")
    assert open_all(fresh, resolved, tmp_path / "store") == [{"ok": True}] * WORLD
    ask_all(fresh, "draw", entry=0, trial=0, family="nominal")
    fresh[0].send("expect", entry=0)
    time.sleep(0.3)
    fresh[1].process.kill()
    begin = time.monotonic()
    answer = fresh[0].answer()
    assert answer["ok"] is False
    assert answer["error"]["message"]
    assert time.monotonic() - begin < DIE_QUICKLY_S
    fresh[0].channel.close()
    assert fresh[0].wait_exit(DIE_QUICKLY_S) == 1


def test_end_of_socket_ends_a_collective_and_a_batch(fresh, tmp_path):
    resolved = resolved_size(load(find("1")), "tiny")
    assert open_all(fresh, resolved, tmp_path / "store") == [{"ok": True}] * WORLD
    ask_all(fresh, "draw", entry=0, trial=0, family="nominal")
    assert fresh[1].ask("batch", slots=[0], entries=[0]) == {"ok": True}
    fresh[0].send("expect", entry=0)
    time.sleep(0.3)
    for judge in fresh:
        judge.channel.shutdown(socket.SHUT_RDWR)
        assert judge.wait_exit(DIE_QUICKLY_S) == 1


def test_runner_dies_with_its_judge():
    """The socket stays open, only the parent dies."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    fd = theirs.fileno()
    code = (
        "import subprocess, sys, time\n"
        f"p = subprocess.Popen([sys.executable, '-m', 'harness.runner', '--fd', '{fd}', '--rank',"
        f" '0', '--world', '1'], pass_fds=[{fd}])\n"
        "print(p.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, pass_fds=[fd], stdout=subprocess.PIPE, text=True
    )
    try:
        pid = int(parent.stdout.readline())
        ours.settimeout(20)
        ours.send(b'{"verb": "dance"}')
        assert b"no verb" in ours.recv(100_000)
        parent.send_signal(signal.SIGKILL)
        for _ in itertools.count():
            if not is_running(pid):
                break
            assert _ < 100, "the runner outlived its judge"
            time.sleep(0.05)
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
        ours.close()
        theirs.close()


def is_running(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in "ZX"


def test_usage_error_is_status_2():
    done = subprocess.run(
        [sys.executable, "-m", "harness.runner", "--fd", "0"],
        cwd=ROOT,
        capture_output=True,
        timeout=300,
        env={**os.environ},
    )
    assert done.returncode == 2
