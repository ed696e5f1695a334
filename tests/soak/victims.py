# SPDX-License-Identifier: Apache-2.0
"""Which processes of a run may be killed, by kind, and which of them comes next."""

import os
import random
from collections import Counter
from enum import Enum

from tests.e2e.processes import Process, descendants, look, parent

EVALUATOR = "evaluator"
MODULES = {"harness.runner": "runner", "harness.runner.resolve": "resolver"}


def kind(process: Process) -> str:
    """The program's name, or what it is to us; a fork of the evaluator is a world or compiles."""
    words = process.command.split(" ")
    name = words[0].rsplit("/", 1)[-1]
    if name.startswith("python"):
        module = words[words.index("-m") + 1] if "-m" in words else ""
        return MODULES.get(module, "python")
    if name == "bwrap":
        return "bwrap of a cell" if "/pkbench-cell" in process.command else "bwrap of a compiler"
    ours = {"pkbench": "fork", "pkbench-judge": "judge", "pkbench-cell": "cell"}
    return ours.get(name, name)


class Part(Enum):
    """What of a run a process belongs to, and so how often it may be hit while one attempt is
    judged: what breaks twice is the attempt's own fault by docs/design.md.
    """

    FREE = "the command itself, and what compiles ahead: at any time"
    BUILD = "what compiles for the attempt: once"
    RANKS = "all else: once"


RANKS = {"mpirun", "judge", "runner", "cell", "bwrap of a cell", "resolver"}


def _is_ahead(process: Process, below: dict[int, list[Process]], above: list[Process]) -> bool:
    """It works in a folder of its own, which bubblewrap is told; the fork around it shows none."""
    if kind(process) == "fork":
        return any("/ahead-" in one.command for one in below.get(process.pid, []))
    return any("/ahead-" in one.command for one in (process, *above))


def parts(root: int) -> list[tuple[str, Part, Process]]:
    """All processes of a run: kind, part, process."""
    found = {one.pid: one for one in descendants(root) if one.command.strip()}
    parents = {pid: parent(pid) for pid in found}
    below: dict[int, list[Process]] = {}
    for pid, process in found.items():
        below.setdefault(parents[pid], []).append(process)
    told = []
    for pid, process in found.items():
        above, at = [], parents[pid]
        while at in found:
            above.append(found[at])
            at = parents[at]
        name = kind(process)
        if _is_ahead(process, below, above):
            part = Part.FREE
        elif name in RANKS or name == "fork":
            part = Part.RANKS
        else:
            part = Part.BUILD
        told.append((name, part, process))
    if (own := look(root)) is not None:
        told.append((EVALUATOR, Part.FREE, own))
    return told


class Victims:
    """Kinds are drawn with a preference for those that were hit least."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.hits: Counter[str] = Counter()

    def choose(
        self, root: int, spent: set[Part], is_late: bool
    ) -> tuple[str, Part, Process] | None:
        """None if the lot fell on what may not be hit again. When it is late it never does, and
        falls on the command every other time, so that no record comes."""
        found: dict[str, list[tuple[Part, Process]]] = {}
        for name, part, process in parts(root):
            if not is_late or part not in spent:
                found.setdefault(name, []).append((part, process))
        if not found:
            return None
        kinds = sorted(found)
        (name,) = self.random.choices(kinds, [1 / (1 + self.hits[one]) for one in kinds])
        if is_late and EVALUATOR in found and self.random.random() < 0.5:
            name = EVALUATOR
        part, process = self.random.choice(found[name])
        return None if part in spent else (name, part, process)

    def kill(self, name: str, process: Process) -> bool:
        """False: it had ended by itself."""
        if not process.is_alive():
            return False
        try:
            os.kill(process.pid, 9)
        except ProcessLookupError:
            return False
        self.hits[name] += 1
        return True
