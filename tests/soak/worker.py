# SPDX-License-Identifier: Apache-2.0
"""`pkbench worker` for long: many attempts in a row by one that lives on, and whether anything that
it holds grows; and the attempts of a folder, which must get the same records from both.
"""

import itertools
import json
import random
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.soak import attempts, census, corpus, records
from tests.soak.place import OPTIONS, Clock, Place

AHEAD = 3  # requests that are under way at once
EVERY = 50  # attempts from one census to the next
WAITS = ("hangs", "waits_for", "once_more", "idle_rank")  # zoo files that use up their time limit


class Worker:
    """A context manager around one worker; leaving it asks for its end."""

    def __init__(self, place: Place, *options):
        self.said = (place.out / "worker.said").open("w")
        self.process = place.start(
            "worker",
            *options,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            text=True,
        )
        self.ready = self.answer()

    def answer(self) -> dict:
        line = self.process.stdout.readline()
        assert line, f"the worker ended with {self.process.wait()}; see {self.said.name}"
        return json.loads(line)

    def ask(self, request: dict) -> None:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def judge(self, requests: list[dict]) -> Iterator[dict]:
        """Answers as they come; at most AHEAD requests wait at once."""
        left = iter(requests)
        for request in itertools.islice(left, AHEAD):
            self.ask(request)
        for _ in requests:
            yield self.answer()
            for request in itertools.islice(left, 1):
                self.ask(request)

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
        self.process.stdout.close()
        self.said.close()


def request_for(run: Path, number: int, attempt: corpus.Attempt) -> dict:
    return {
        "request": str(number),
        "problem": attempt.problem,
        "file": str(run / attempt.path),
        "time": False,
        "fresh": True,
    }


# ---- one after another ----


def schedule(count: int, seed: int, every: int = 1) -> list[corpus.Attempt]:
    """All as a folder has them, or each `every`th; then rounds without those that wait for their
    time limit, each in an order of its own: the problem changes at almost every step, which is the
    harder way."""
    found, order = (
        sorted(corpus.attempts()[:count], key=lambda one: one.path)[::every],
        random.Random(seed),
    )
    quick = [one for one in found if not any(word in one.name for word in WAITS)]
    while len(found) < count:
        found += order.sample(quick, len(quick))
    return found[:count]


def measure(place: Place, planned: list[corpus.Attempt], folder: Path) -> dict:
    """Attempt after attempt, a census every EVERY, then trends; records as in `folder`, if any."""
    run, done = place.out / "run", 0
    corpus.write(run, corpus.attempts(), with_noise=False)
    faults, rows, clock, first = [], [], Clock(place.cpu), {}
    with Worker(place, *OPTIONS, *attempts.TIMEOUT, *attempts.SEED) as worker:
        while done < len(planned) and not place.is_over():
            part = dict(enumerate(planned[done : done + EVERY], start=done))
            for answer in worker.judge([request_for(run, *one) for one in part.items()]):
                faults += faults_of(answer, part)
                first.setdefault(part[int(answer["request"])].path, answer.get("record", answer))
            done += len(part)
            rows.append(census.take(worker.process.pid, place.work, place.cache, done))
            place.store("worker", {"part": "worker", **clock.read(done), "census": rows})
    rate = clock.read(done)
    if worker.process.returncode != 0:
        faults.append(f"exit status {worker.process.returncode}")
    found = census.trends(rows[1:])  # the first rows see caches fill
    faults += census.leaks(found) + place.left()
    equal, varying, unequal = compare(attempts.stored(folder), first)
    result = {
        "part": "worker",
        **rate,
        "equal_to_those_of_the_folder": equal,
        "equal_verdict_other_details": varying,
        "trends": {name: str(one) for name, one in found.items()},
        "faults": faults + unequal,
        "census": rows,
    }
    place.store("worker", result)
    return result


def faults_of(answer: dict, part: dict[int, corpus.Attempt]) -> list[str]:
    if "record" not in answer:
        return [f"no record: {answer}"[:400]]
    text = records.fault(part[int(answer["request"])], answer["record"])
    return [text] if text else []


# ---- the same as in a folder ----


def compare(wanted: dict[str, dict], found: dict[str, dict]) -> tuple[int, list[str], list[str]]:
    """How many are equal; what differs beside the verdict; and faults: other verdicts. Some are
    wrong by chance: who reads too early may do so at another place each time."""
    equal, varying, faults = 0, [], []
    for path in wanted.keys() & found.keys():
        mine, other = wanted[path], found[path]
        told = records.differences(records.core(mine), records.core(other))
        equal += not told
        is_same = mine["verdict"] == other.get("verdict")
        (varying if is_same else faults).extend(f"{path}: {text}" for text in told)
    return equal, varying, faults
