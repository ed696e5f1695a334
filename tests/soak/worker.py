# SPDX-License-Identifier: Apache-2.0
"""`pkbench worker` for long: many attempts in a row by one that lives on, and whether anything that
it holds grows; and the same attempts as in a folder, which must get the same records.
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


def schedule(count: int, seed: int) -> list[corpus.Attempt]:
    """All but those that wait for their time limit, in a new order each round; so the problem
    changes at almost every step, which is the harder way."""
    chosen = [one for one in corpus.attempts() if not any(word in one.name for word in WAITS)]
    order, found = random.Random(seed), []
    while len(found) < count:
        found += order.sample(chosen, len(chosen))
    return found[:count]


def measure(place: Place, count: int, seed: int) -> dict:
    """`count` attempts, a census every EVERY, then the trends."""
    run, planned = place.out / "run", schedule(count, seed)
    corpus.write(run, corpus.attempts(), with_noise=False)
    faults, rows, clock = [], [], Clock()
    with Worker(place, *OPTIONS, *attempts.TIMEOUT) as worker:
        for begin in range(0, count, EVERY):
            part = dict(enumerate(planned[begin : begin + EVERY], start=begin))
            for answer in worker.judge([request_for(run, *one) for one in part.items()]):
                faults += faults_of(answer, part)
            rows.append(census.take(worker.process.pid, place.work, place.cache, begin + len(part)))
            clock.look()
    rate = clock.read(count)
    if worker.process.returncode != 0:
        faults.append(f"exit status {worker.process.returncode}")
    found = census.trends(rows[1:])  # the first rows see caches fill
    faults += census.leaks(found) + place.left()
    told = {name: str(one) for name, one in found.items()}
    result = {"part": "worker", **rate, "trends": told, "faults": faults, "census": rows}
    place.store("worker", result)
    return result


def faults_of(answer: dict, part: dict[int, corpus.Attempt]) -> list[str]:
    if "record" not in answer:
        return [f"no record: {answer}"[:400]]
    text = records.fault(part[int(answer["request"])], answer["record"])
    return [text] if text else []


# ---- the same as in a folder ----


def equal(place: Place, folder: Path) -> dict:
    """Each attempt that `attempts` stored in `folder`, asked of a worker."""
    wanted = attempts.stored(folder)
    chosen = [one for one in corpus.attempts() if one.path in wanted]
    run = place.out / "run"
    corpus.write(run, chosen, with_noise=False)
    clock, found = Clock(), {}
    with Worker(place, *OPTIONS, *attempts.TIMEOUT, *attempts.SEED) as worker:
        for answer in worker.judge([request_for(run, *one) for one in enumerate(chosen)]):
            found[chosen[int(answer["request"])].path] = answer.get("record", answer)
            clock.look()
    rate = clock.read(len(chosen))
    faults, varying = [], []
    for path, record in found.items():
        differing = records.differences(records.core(wanted[path]), records.core(record))
        is_same = record.get("verdict") == wanted[path]["verdict"]
        (varying if is_same else faults).extend(f"{path}: {text}" for text in differing)
    result = {"part": "equal", **rate, "differing_details": varying, "faults": faults}
    place.store("equal", result)
    return result
