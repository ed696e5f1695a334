# SPDX-License-Identifier: Apache-2.0
"""Which processes of a run may be killed, by kind, and which of them comes next."""

import os
import random
from collections import Counter

from tests.e2e.processes import Process, descendants, look

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


class Victims:
    """Kinds are drawn with a preference for those that were hit least."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.hits: Counter[str] = Counter()

    def choose(self, root: int, is_spent: bool) -> tuple[str, Process] | None:
        """`is_spent`: this attempt was hit already. What breaks twice is its own fault by
        docs/design.md, so only the evaluator may be hit at any time."""
        found: dict[str, list[Process]] = {}
        for process in descendants(root):
            if process.command.strip():
                found.setdefault(kind(process), []).append(process)
        if (own := look(root)) is not None:
            found[EVALUATOR] = [own]
        if not found:
            return None
        kinds = sorted(found)
        (name,) = self.random.choices(kinds, [1 / (1 + self.hits[one]) for one in kinds])
        return None if is_spent and name != EVALUATOR else (name, self.random.choice(found[name]))

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
