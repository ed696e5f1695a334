# SPDX-License-Identifier: Apache-2.0
"""What an audit finds: sentences that name problem, size, P, argument, rank and remedy."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from harness.runner.audit.scene import Place


@dataclass(frozen=True)
class Fault:
    kind: str  # "inputs", "influence", "stub", "reference", "honest", "error", "note"
    problem: str
    size: str
    world: int
    grid: str
    subject: str  # what is at fault: faults of one kind and subject are shown once
    text: str  # what is wrong, where, and the remedy

    @property
    def sentence(self) -> str:
        grid = f", grid {self.grid}" if self.grid else ""
        return f"{self.problem}, size {self.size}, P = {self.world}{grid}: {self.text}"

    @property
    def is_note(self) -> bool:
        """Worth knowing, but nothing is wrong."""
        return self.kind == "note"

    def as_json(self) -> dict:
        return asdict(self)


def fault_at(place: Place, kind: str, subject: str, text: str) -> Fault:
    return Fault(kind, place.problem.name, place.size, place.world, place.grid, subject, text)


def grouped(faults: Iterable[Fault]) -> list[tuple[Fault, int]]:
    """Faults of one kind and subject of a problem as one, with their number; in order."""
    groups: dict[tuple, list[Fault]] = {}
    for fault in faults:
        groups.setdefault((fault.problem, fault.kind, fault.subject), []).append(fault)
    return [(group[0], len(group)) for group in groups.values()]
