# SPDX-License-Identifier: Apache-2.0
"""What an audit says: a line a problem while it works, faults as sentences, a table at the end."""

import json
import sys
from dataclasses import dataclass

from harness.runner.audit.fault import Fault, grouped


@dataclass(frozen=True)
class Audited:
    """One problem, looked at."""

    name: str
    places: int  # sizes on worlds and grids
    seconds: float
    faults: list[Fault]

    @property
    def wrong(self) -> list[Fault]:
        return [fault for fault in self.faults if not fault.is_note]

    def line(self, columns: int) -> str:
        verdict = _counted(len(grouped(self.wrong)), "fault") if self.wrong else "clean"
        return f"{self.name:{columns}} {self.places:3} places  {self.seconds:6.1f} s  {verdict}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def name_columns(names: list[str]) -> int:
    return max([len("problem"), *map(len, names)])


def begin(name: str) -> None:
    """Shows which problem is at work, on a terminal only."""
    if sys.stderr.isatty():
        print(f"{name} …", end="\r", file=sys.stderr, flush=True)


def end(audited: Audited, columns: int) -> None:
    """`columns`: how wide names are."""
    print(audited.line(columns), file=sys.stderr, flush=True)
    for fault, count in grouped(audited.faults):
        more = f" (and {count - 1} more like it)" if count > 1 else ""
        start = "note: " if fault.is_note else ""
        print(f"  {start}{fault.sentence}{more}", file=sys.stderr, flush=True)


KINDS = ("inputs", "influence", "stub", "reference", "honest", "error", "note")


def table(problems: list[Audited]) -> str:
    """Faults by problem and kind."""
    columns = name_columns([one.name for one in problems])
    lines = [f"{'problem':{columns}} {'places':>6} " + " ".join(f"{kind:>9}" for kind in KINDS)]
    for one in problems:
        by_kind = [fault.kind for fault, _ in grouped(one.faults)]
        numbers = " ".join(f"{by_kind.count(kind) or '-':>9}" for kind in KINDS)
        lines.append(f"{one.name:{columns}} {one.places:6} {numbers}")
    faults = sum(len(grouped(one.wrong)) for one in problems)
    lines.append(f"{_counted(len(problems), 'problem')}, {_counted(faults, 'fault')}")
    return "\n".join(lines)


def as_json(problems: list[Audited]) -> str:
    return json.dumps(
        {
            "audit": 1,
            "problems": [
                {
                    "name": one.name,
                    "places": one.places,
                    "seconds": round(one.seconds, 3),
                    "faults": [fault.as_json() for fault in one.faults],
                }
                for one in problems
            ],
        }
    )
