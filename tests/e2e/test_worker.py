# SPDX-License-Identifier: Apache-2.0
"""`pkbench worker`: every request gets its answer, whatever else comes or dies."""

import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.e2e.command import PKBENCH, ROOT, pkbench
from tests.e2e.fake_tools import fake_judge, fake_nvcc
from tests.e2e.processes import HUNG_S, descendants, kill, wait_until

HONEST = (ROOT / "examples" / "001_allreduce.cu").read_text()
ZOO = ROOT / "tests" / "zoo"
QUEUE = 16  # requests that a worker takes before it lets its input wait
QUICK = ("--device", "cpu", "--no-timing")
SEED = ("--seed", "7")  # of equal draws: then equal words, too


class Worker:
    """A worker with threads of its own for both directions, as a client has them."""

    def __init__(self, *options, env=None):
        self.process = subprocess.Popen(
            [PKBENCH, "worker", *map(str, options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
        )
        self.ready = json.loads(self.process.stdout.readline() or "null")
        self.answers = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.answers.append(json.loads(line))

    def send(self, *lines):
        for line in lines:
            text = line if isinstance(line, bytes) else json.dumps(line).encode()
            self.process.stdin.write(text + b"\n")
        self.process.stdin.flush()

    def wait_for(self, count: int) -> list:
        assert wait_until(lambda: len(self.answers) >= count), self.answers
        return self.answers

    def end(self) -> int:
        """Ends the input and waits for the rest of the answers."""
        self.process.stdin.close()
        self.process.wait(timeout=HUNG_S)
        self.reader.join(timeout=HUNG_S)
        return self.process.returncode

    def record(self, request) -> dict:
        (answer,) = [one for one in self.answers if one["request"] == request]
        return answer["record"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def ask(request, source=HONEST, problem=1, **more) -> dict:
    return {"request": request, "problem": problem, "source": source, **more}


def without_times(record: dict) -> dict:
    """What must not differ between two judgements of one attempt."""
    gone = ("id", "run", "sample", "source", "cost_s")
    kept = {key: value for key, value in record.items() if key not in gone}
    if "sizes" in kept:
        kept["sizes"] = [{k: v for k, v in one.items() if k != "cost_s"} for one in kept["sizes"]]
    return kept


def test_records_are_those_of_a_run(tmp_path):
    """Also what is asked twice, at once and afterwards."""
    wrong = (ZOO / "001_wrong_last_element.cu").read_text()
    sources = [HONEST, "", "int broken", wrong]
    folder = tmp_path / "run" / "samples" / "001_allreduce"
    folder.mkdir(parents=True)
    for number, source in enumerate(sources):
        (folder / f"{number}.cu").write_text(source)
    stored = tmp_path / "records.jsonl"
    with Worker(*QUICK, *SEED, "-o", stored) as worker:
        assert worker.ready["ready"] is True
        assert 2 in worker.ready["worlds"]
        assert set(worker.ready) == {"ready", "version", "worlds"}
        worker.send(*[ask(number, source) for number, source in enumerate(sources)])
        worker.send(ask("again"))
        worker.wait_for(len(sources) + 1)
        worker.send(ask("late"), ask("fresh", fresh=True))
        worker.wait_for(len(sources) + 3)
        assert worker.end() == 0
    first, fresh = worker.record(0), worker.record("fresh")
    assert worker.record("again") == worker.record("late") == first
    assert "start" in first["cost_s"]
    assert "start" not in fresh["cost_s"]  # it was judged, and by the same ranks
    assert first["id"] == "worker/001_allreduce/0/cpu/2"
    assert (first["run"], first["sample"]) == ("worker", 0)
    assert without_times(fresh) == without_times(first)

    answer = pkbench("eval", tmp_path / "run", *QUICK, *SEED, "--json")
    assert answer.status == 0, answer.err
    for number, line in enumerate(answer.out.splitlines()):
        record, other = without_times(json.loads(line)), without_times(worker.record(number))
        if record["verdict"] in ("NO_CODE", "COMPILE_ERROR"):  # they quote the file's name
            record.pop("reason"), other.pop("reason")
        assert record == other
    assert len(stored.read_text().splitlines()) == len(sources) + 1

    with Worker(*QUICK, *SEED, "-o", stored) as worker:  # nothing needs to be judged
        worker.send(ask("known"))
        assert worker.end() == 0
    assert worker.record("known") == fresh


LARGE_ID = 2**63 + 1  # a double does not hold it


def test_what_is_wrong_with_a_request_is_its_answer():
    with Worker(*QUICK) as worker:
        worker.send(
            b"{", b"", b"[]", b'"' + b"x" * (9 << 20) + b'"',
            b'{"request": 1, "problem": 1, "source": "\\u0000"}', b"\xff\xfe",
            b'{"request": "\xff", "problem": 1, "source": ""}',
            {"problem": 1, "source": ""},
            ask("problem", problem=999),
            ask("key", sorce=""),
            ask("world", world=0),
            ask("device", device="tpu"),
            ask("sizes", sizes=["tiny"] * 100_000),
            *(ask(f"cut{n}", device="x" * n + "\u00e4" * 1000) for n in (0, 1)),
            ask("file", None, file="/nowhere.cu"),
            ask("large", "x" * ((1 << 20) + 1)),
            ask("fine", ""),
            ask(LARGE_ID, ""),
            b'{"request": "twice", "problem": 1, "source": "", "problem": 13}',
        )  # fmt: skip
        assert worker.end() == 0
    errors = {one["request"]: one["error"] for one in worker.answers if "error" in one}
    assert [one["request"] for one in worker.answers].count(None) == 7
    assert len(worker.answers) == 19
    words = {
        "problem": "'999'",
        "key": "did you mean source?",
        "world": '"world"',
        "device": "'tpu'",
        "sizes": '"sizes" have 499999 bytes',
        "file": "/nowhere.cu",
        "large": "1048577",
    }
    for name, word in words.items():
        assert errors[name]["code"] == "usage"
        assert word in errors[name]["message"]
    assert errors["twice"]["code"] == "format"
    assert '"problem" stands twice' in errors["twice"]["message"]
    assert worker.record("fine")["verdict"] == "NO_CODE"
    assert worker.record(LARGE_ID)["verdict"] == "NO_CODE"


def test_bad_command_lines():
    for words, expected in {
        ("x.cu",): "requests come on standard input",
        ("-p", "1"): "has no option '-p'",
        ("--samples", "0"): "has no option '--samples'",
        ("--shard", "1/2"): "has no option '--shard'",
        ("--dry-run",): "has no option '--dry-run'",
        ("-o", "/nowhere/x.jsonl"): "/nowhere/x.jsonl",
    }.items():
        answer = pkbench("worker", *words)
        assert answer.status in (2, 5), answer
        assert expected in answer.err
    assert "docs/worker.md" in " ".join(pkbench("worker", "--help").out.split())


# ---- with judges that judge nothing, so that this is quick ----


@pytest.fixture
def fakes(tmp_path):
    """Judge and compiler are fakes, and work directories lie at a short path."""
    scratch = Path(f"/tmp/pkb-w{os.getpid()}")
    scratch.mkdir(exist_ok=True)
    scratch_only = {"PKBENCH_TMPDIR": str(scratch)}
    yield {**fake_judge(tmp_path, "correct"), **fake_nvcc(tmp_path), **scratch_only}
    shutil.rmtree(scratch, ignore_errors=True)


def lanes_of(worker: Worker) -> list:
    return [p for p in descendants(worker.process.pid) if p.command.split()[1:2] == ["worker"]]


def test_a_lane_that_was_killed_loses_nothing(fakes):
    """Whatever of it dies: the lane itself while it judges, or a judge while it waits."""
    with Worker(*QUICK, env={**fakes, "FAKE_JUDGE": "waits_for_mark"}) as worker:
        worker.send(ask("hit"))
        assert wait_until(lambda: lanes_of(worker) != [])
        (lane,) = lanes_of(worker)
        kill(lane)
        Path(fakes["FAKE_JUDGE_MARK"]).touch()
        worker.wait_for(1)
        assert worker.record("hit")["verdict"] == "CORRECT"
        (other,) = lanes_of(worker)
        assert other != lane
        kill(other)
        worker.send(ask("idle", fresh=True))
        worker.wait_for(2)
        assert worker.record("idle")["verdict"] == "CORRECT"
        judges = [p for p in descendants(worker.process.pid) if "pkbench-judge" in p.command]
        kill(judges[-1])
        worker.send(ask("ranks", fresh=True))
        worker.wait_for(3)
        assert worker.record("ranks")["verdict"] == "CORRECT"
        assert worker.end() == 0
    assert not wait_until(lambda: lane.is_alive() or other.is_alive(), 0)


def test_failures_of_ours_are_records(fakes):
    with Worker(*QUICK, env={**fakes, "FAKE_JUDGE": "dies_in_attempt"}) as worker:
        worker.send(ask("a"))
        worker.wait_for(1)
        worker.send(ask("a again"))
        assert worker.end() == 0
    assert worker.record("a")["verdict"] == "INFRA_ERROR"
    assert worker.record("a again")["verdict"] == "INFRA_ERROR"
    assert worker.record("a again") != worker.record("a")


def test_a_file_of_records_counts_each_source_as_a_sample(fakes, tmp_path):
    """For the next worker, too; and a score sees all of them."""
    stored = tmp_path / "records.jsonl"
    options = (*QUICK, "--worlds", "2", "-o", stored)
    with Worker(*options, env=fakes) as worker:
        worker.send(*[ask(k, f"{HONEST}// {k}") for k in range(3)], ask("other", problem=13))
        worker.send(ask("anew", f"{HONEST}// 1", fresh=True), ask("blank", ""))
        assert worker.end() == 0
        found = {k: worker.record(k)["id"] for k in (0, 1, 2, "other", "anew", "blank")}
    first = "worker/001_allreduce/{}/cpu/2".format
    assert [found[k] for k in (0, 1, 2)] == [first(k) for k in range(3)]
    assert found["other"] == "worker/013_gemm_allreduce/0/cpu/2"
    assert found["anew"] == first(1)
    assert found["blank"] == first(3)

    with Worker(*options, env=fakes) as worker:
        worker.send(ask("known", f"{HONEST}// 2"), ask("new", f"{HONEST}// new"))
        assert worker.end() == 0
        assert worker.record("known")["id"] == first(2)
        assert worker.record("new")["id"] == first(4)
    lines = [json.loads(line) for line in stored.read_text().splitlines()]
    assert {one["id"] for one in lines} == {*found.values(), first(4)}
    answer = pkbench("score", stored, "--json")
    assert [one["judged"] for one in answer.record["problems"]] == [5, 1]


def is_stuck(sent: list, looks: int = 100) -> bool:
    """The worker's queue is full, and nothing more goes into its pipe for a second."""
    before = len(sent)
    for _ in range(looks):
        time.sleep(0.01)
        if len(sent) != before:
            return False
    return before >= QUEUE


def test_requests_wait_outside_once_the_queue_is_full(fakes):
    """And all worlds share the room there is: lanes of one kind end for those of another."""
    many = 60
    source = HONEST + "// " + "x" * 50000  # so that a pipe does not hold them all
    with Worker(*QUICK, env={**fakes, "FAKE_JUDGE": "waits_for_mark"}) as worker:
        sent = []

        def write():
            for number in range(many):
                worker.send(ask(number, source, fresh=True, world=1 + number % 2))
                sent.append(number)

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        assert wait_until(lambda: lanes_of(worker) != [])
        assert wait_until(lambda: is_stuck(sent)), len(sent)
        assert len(sent) < many
        assert worker.answers == []
        Path(fakes["FAKE_JUDGE_MARK"]).touch()
        writer.join(HUNG_S)
        assert worker.end() == 0
    assert sorted(one["request"] for one in worker.answers) == list(range(many))
    for one in worker.answers:
        assert one["record"]["world"] == 1 + one["request"] % 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_and_leaves_nothing(fakes, number):
    with Worker(*QUICK, env={**fakes, "FAKE_JUDGE": "waits_for_mark"}) as worker:
        worker.send(ask("never"))
        assert wait_until(lambda: "pkbench-judge" in str(descendants(worker.process.pid))), (
            "no ranks came up"
        )
        tree = descendants(worker.process.pid)
        worker.process.send_signal(number)
        assert worker.process.wait(timeout=HUNG_S) == (130 if number == signal.SIGTERM else -9)
    assert [p for p in tree if not wait_until(lambda p=p: not p.is_alive())] == []


def test_it_ends_with_its_reader(fakes):
    reading, writing = os.pipe()
    worker = subprocess.Popen(
        [PKBENCH, "worker", *QUICK],
        stdin=subprocess.PIPE,
        stdout=writing,
        stderr=subprocess.PIPE,
        env={**os.environ, **fakes},
    )
    os.close(writing)
    with os.fdopen(reading, "rb") as output:
        assert json.loads(output.readline())["ready"]
    try:
        assert worker.wait(timeout=HUNG_S) == 5  # although its input is still open
    finally:
        worker.kill()
    _, err = worker.communicate()
    assert b"nobody reads" in err


def reward(*words):
    return subprocess.run(
        [sys.executable, "docs/worker/reward.py", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        timeout=HUNG_S,
        text=True,
    )


def test_the_example_of_a_reward(tmp_path):
    """With timing: times of the CPU device are no speed-up."""
    wrong = tmp_path / "wrong.cu"
    wrong.write_text("int broken")
    done = reward("1", wrong, "examples/001_allreduce.cu", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0.0", "1.0"]


def test_the_example_of_a_reward_does_not_punish_faults_of_the_question():
    done = reward("99", "examples/001_allreduce.cu", *QUICK)
    assert done.returncode == 1
    assert "there is no problem '99'" in done.stderr
    assert done.stdout == ""


def record_of(verdict, device, speedups=()):
    """A record as far as a reward looks at it; `speedups` are pairs of class and value."""
    sizes = [{"class": one, "speedup": {"eager": {"value": value}}} for one, value in speedups]
    return {"verdict": verdict, "device": device, "sizes": sizes}


def test_the_example_of_a_reward_says_how_it_is_called():
    for words in ([], ["1"], ["1", "--device", "cpu"]):
        done = reward(*words)
        assert done.returncode == 1
        assert "reward.py PROBLEM FILE.cu" in done.stderr
        assert "Traceback" not in done.stderr


def test_the_example_of_a_reward_takes_scored_speedups_of_gpus_only():
    value_of = runpy.run_path(str(ROOT / "docs" / "worker" / "reward.py"))["reward"]
    speedups = [("tiny", 0.1), ("pkb", 8.0), ("large", 2.0)]
    assert value_of(record_of("CORRECT", "cuda", speedups)) == pytest.approx(4.0)  # as in a score
    assert value_of(record_of("CORRECT", "cuda", speedups[:1])) == 1.0
    assert value_of(record_of("CORRECT", "cpu", speedups)) == 1.0
    assert value_of(record_of("WRONG_OUTPUT", "cuda", speedups)) == 0.0
    assert value_of(record_of("INFRA_ERROR", "cuda")) is None
    assert value_of(record_of("UNSUPPORTED", "cpu")) is None
