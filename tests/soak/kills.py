# SPDX-License-Identifier: Apache-2.0
"""A hundred kills: one run of twenty attempts is killed here and there, at random moments, and
called again until it is done. Its records must be those of a run that nobody disturbed.
"""

import math
import subprocess
import time
from collections import Counter
from pathlib import Path

from tests.e2e.processes import Process, descendants, wait_until
from tests.soak import corpus, records
from tests.soak.place import GONE_S, OPTIONS, Place
from tests.soak.victims import Part, Victims, kind

LOOK_S = 0.1
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


def has_cells(seen: set[Process]) -> bool:
    """They live briefly, and last: of the kills before a record the last waits for them."""
    return any(kind(one) == "cell" and one.is_alive() for one in seen)


class Siege:
    """Calls the command again and again, and kills parts of it, until it says that it is done.

    Kills are spread over the attempts: so many are due before the next record, and while they are
    due the command itself is hit too often for it to get there; once they have come it is left
    alone until the record is there. So all kills come, and the run goes on.
    """

    def __init__(self, place: Place, run: Path, victims: Victims, pause_s: float):
        self.place, self.run, self.victims, self.pause_s = place, run, victims, pause_s
        self.path = place.out / "killed.jsonl"
        self.calls, self.statuses = 0, []
        self.before_record: Counter[int] = Counter()  # kills while so many lines were there
        self.lingered: set[Process] = set()  # after a call of theirs; a later one sweeps them

    @property
    def kills(self) -> int:
        return sum(self.victims.hits.values())

    def due(self, wanted: int, attempts: int) -> int:
        """How many kills are missing up to the next record."""
        lines = min(attempts, records.count_lines(self.path) + 1)
        return 0 if self.place.is_over() else math.ceil(wanted * lines / attempts) - self.kills

    def run_to_its_end(self, wanted: int, attempts: int) -> None:
        status = None
        with (self.place.out / "kills.said").open("a") as said:
            while status != 0:
                process = start(self.place, self.run, self.path, said)
                self.calls += 1
                seen = self.harass(process, wanted, attempts)
                status = process.wait()
                self.statuses.append(status)
                self.note_survivors(seen)
                if self.victims.random.random() < 0.5:  # or compilers would have no work
                    self.place.renew_cache()
                assert self.calls < 20 * (wanted + 10), "it does not come to its end"

    def harass(self, process: subprocess.Popen, wanted: int, attempts: int) -> set[Process]:
        """Kills until the call has ended; all processes that it was seen to have."""
        seen: set[Process] = set()
        spent: dict[Part, int] = {}  # the number of lines when it was hit
        next_at = time.monotonic() + self.pause(wanted, attempts)
        while process.poll() is None:
            time.sleep(0.02)
            if time.monotonic() < next_at or (due := self.due(wanted, attempts)) <= 0:
                continue
            seen |= set(descendants(process.pid))
            lines = records.count_lines(self.path)
            is_last = lines + 1 >= attempts
            if due == 1 and not is_last and not has_cells(seen):
                next_at = time.monotonic() + LOOK_S
                continue
            # What was hit when an attempt was done may be missed by the next one only.
            hit = {part for part, at in spent.items() if lines - at <= 1}
            if not has_cells(seen) and self.victims.random.random() < 0.5:
                hit.add(Part.RANKS)  # there is one hit a record, and cells come last
            part = self.strike(process, hit, is_late=is_last or due > wanted / attempts)
            if part is not None:
                self.before_record[lines] += 1
                if part is not Part.FREE:
                    spent[part] = lines
            next_at = time.monotonic() + self.pause(wanted, attempts)
        return seen

    def pause(self, wanted: int, attempts: int) -> float:
        """The shorter, the more kills are due; and before the last record, which ends them all."""
        is_last = records.count_lines(self.path) + 1 >= attempts
        share = wanted / attempts / max(1, self.due(wanted, attempts))
        mean_s = self.pause_s * min(1 / 3 if is_last else 1, share)
        return self.victims.random.uniform(0, 2 * mean_s)

    def strike(self, process: subprocess.Popen, spent: set[Part], is_late: bool) -> Part | None:
        chosen = self.victims.choose(process.pid, spent, is_late)
        if chosen is None:
            return None
        name, part, victim = chosen
        return part if self.victims.kill(name, victim) else None

    def counts(self, found: list[dict]) -> dict:
        """What there is to tell."""
        return {
            "kills": self.kills,
            "calls": self.calls,
            "killed": dict(self.victims.hits.most_common()),
            "kills_before_each_record": [self.before_record[i] for i in range(len(found))],
            "exit_statuses": {str(one): self.statuses.count(one) for one in set(self.statuses)},
            "records_of_broken_ranks": {
                "INFRA_ERROR": sum(one["verdict"] == "INFRA_ERROR" for one in found),
                "control": sum("control" in one for one in found),
            },
            "processes_swept_by_the_next_call": len(self.lingered),
        }

    def note_survivors(self, seen: set[Process]) -> None:
        self.lingered |= {
            one for one in seen if not wait_until(lambda one=one: not one.is_alive(), GONE_S)
        }

    def survivors(self) -> list[str]:
        return [f"process {one.command[:120]}" for one in self.lingered if one.is_alive()]


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


def measure(place: Place, kills: int, pause_s: float | None, seed: int) -> dict:
    """Without a pause all kills take as long as the run takes that nobody disturbs."""
    run = place.out / "run"
    corpus.write(run, suite(), with_noise=False)
    begin = time.monotonic()
    wanted = undisturbed(place, run)
    quiet_s = time.monotonic() - begin
    faults = [text for one in suite()
              if (text := records.fault(one, records.by_path(wanted).get(one.path)))]  # fmt: skip
    place.renew_cache()
    siege = Siege(place, run, Victims(seed), pause_s or quiet_s / kills)
    begin = time.monotonic()
    siege.run_to_its_end(kills, len(wanted))
    found = records.read(siege.path)
    if siege.kills < kills:
        faults.append(f"only {siege.kills} of {kills} kills came")
    faults += compare(wanted, found) + siege.survivors() + place.left()
    result = {"part": "kills", "attempts": len(wanted), "seed": seed, "faults": faults}
    result |= siege.counts(found) | {"undisturbed_wall_s": round(quiet_s, 1)}
    result["wall_s"] = round(time.monotonic() - begin, 1)
    place.store("kills", result)
    return result
