# SPDX-License-Identifier: Apache-2.0
"""A hundred kills: a run of twenty attempts is killed here and there, at random moments, and called
again until it is done. Its records must be those of a run that nobody disturbed.
"""

import subprocess
import time
from collections import Counter
from pathlib import Path

from tests.e2e.processes import Process, descendants, wait_until
from tests.soak import corpus, records
from tests.soak.place import GONE_S, OPTIONS, Place
from tests.soak.victims import Victims

# With a seed a record does not depend on when an attempt is judged.
SEED = ("--seed", "7", "--timeout", "60")
NUMBERS = ("001", "005", "026", "063")
KINDS = ("last_element", "past_the_end", "changes_input", "does_not_compile", "no_entry")


def suite() -> list[corpus.Attempt]:
    """Twenty: of four problems the example and four variants of it."""
    found = []
    for attempt in (*corpus.honest(), *corpus.broken()):
        is_kind = attempt.name.removeprefix("variant_").removesuffix(".cu") in KINDS
        if attempt.problem[:3] in NUMBERS and (is_kind or not attempt.name.startswith("variant_")):
            found.append(attempt)
    return found


def start(place: Place, run: Path, path: Path, said) -> subprocess.Popen:
    return place.start("eval", run, *OPTIONS, *SEED, "-o", path, stderr=said)


class Siege:
    """Calls the command again and again, and kills parts of it, until it says that it is done."""

    def __init__(self, place: Place, run: Path, seed: int, pause_s: float):
        self.place, self.run, self.pause_s = place, run, pause_s
        self.victims = Victims(seed)
        self.calls, self.statuses = 0, []
        self.left: list[str] = []
        self.repeated: Counter[str] = Counter()

    @property
    def kills(self) -> int:
        return sum(self.victims.hits.values())

    def one_suite(self, path: Path, wanted_kills: int) -> None:
        """Until every attempt has a verdict; not more kills than wanted in all."""
        status = None
        with (self.place.out / "kills.said").open("a") as said:
            while status != 0:
                process = start(self.place, self.run, path, said)
                self.calls += 1
                seen = self.harass(process, path, wanted_kills)
                status = process.wait()
                self.statuses.append(status)
                self.look_for_survivors(seen)
                assert self.calls < 20 * (wanted_kills + 10), "it does not come to its end"

    def harass(self, process: subprocess.Popen, path: Path, wanted_kills: int) -> set[Process]:
        """Kills until the call has ended; all processes that it was seen to have."""
        seen: set[Process] = set()
        spent_at = -1
        due = time.monotonic() + self.pause()
        while process.poll() is None:
            time.sleep(0.02)
            if self.kills >= wanted_kills or self.place.is_over():
                process.wait()
            elif time.monotonic() >= due:
                seen |= set(descendants(process.pid))
                name = self.strike(process, is_spent=spent_at == records.count_lines(path))
                if name is not None:
                    spent_at = records.count_lines(path)
                due = time.monotonic() + self.pause()
        return seen

    def pause(self) -> float:
        return self.victims.random.uniform(0, 2 * self.pause_s)

    def strike(self, process: subprocess.Popen, is_spent: bool) -> str | None:
        chosen = self.victims.choose(process.pid, is_spent)
        if chosen is None or not self.victims.kill(*chosen):
            return None
        return chosen[0]

    def counts(self, found: list[dict]) -> dict:
        """What there is to tell, with the records of one more suite."""
        self.repeated["INFRA_ERROR"] += sum(one["verdict"] == "INFRA_ERROR" for one in found)
        self.repeated["control"] += sum("control" in one for one in found)
        return {
            "kills": self.kills,
            "calls": self.calls,
            "killed": dict(self.victims.hits.most_common()),
            "exit_statuses": {str(one): self.statuses.count(one) for one in set(self.statuses)},
            "records_of_broken_ranks": dict(self.repeated),
        }

    def look_for_survivors(self, seen: set[Process]) -> None:
        alive = [one for one in seen if not wait_until(lambda one=one: not one.is_alive(), GONE_S)]
        self.left += [f"process {one.command[:120]}" for one in alive]


def compare(wanted: list[dict], found: list[dict]) -> list[str]:
    """Faults; the later line of an id counts, and no verdict may be there twice."""
    mine, other = records.last_of_each(wanted), records.last_of_each(found)
    faults = [f"{one}: no record" for one in mine.keys() - other.keys()]
    for one in mine.keys() & other.keys():
        differences = records.differences(records.core(mine[one]), records.core(other[one]))
        faults += [f"{one}: {text}" for text in differences]
    settled = [one["id"] for one in found if one["verdict"] != "INFRA_ERROR"]
    faults += [f"{one}: judged twice" for one in sorted(set(settled)) if settled.count(one) > 1]
    return faults


def undisturbed(place: Place, run: Path) -> list[dict]:
    path = place.out / "undisturbed.jsonl"
    with (place.out / "undisturbed.said").open("w") as said:
        assert start(place, run, path, said).wait() == 0, said.name
    return records.read(path)


def measure(place: Place, kills: int, pause_s: float, seed: int) -> dict:
    run = place.out / "run"
    corpus.write(run, suite(), with_noise=False)
    wanted = undisturbed(place, run)
    faults = [text for one in suite()
              if (text := records.fault(one, records.by_path(wanted).get(one.path)))]  # fmt: skip
    siege = Siege(place, run, seed, pause_s)
    result = {"part": "kills", "attempts": len(wanted), "seed": seed, "suites": 0, "faults": faults}
    begin = time.monotonic()
    while siege.kills < kills and not place.is_over():
        path = place.out / f"suite{result['suites']}.jsonl"
        siege.one_suite(path, kills)
        found = records.read(path)
        faults += [f"{path.stem}: {text}" for text in compare(wanted, found)]
        result["suites"] += 1
        result |= siege.counts(found) | {"wall_s": round(time.monotonic() - begin, 1)}
        place.store("kills", result)
        if result["suites"] % 2 == 0:  # compilers are hit in one suite, ranks more in the next
            place.renew_cache()
    faults += siege.left + place.left()
    place.store("kills", result)
    return result
