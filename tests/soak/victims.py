# SPDX-License-Identifier: Apache-2.0
"""Which processes of a run may be killed, by kind, and which of them comes next."""

import os
import random
from collections import Counter
from pathlib import Path

from tests.e2e.processes import Process, descendants, look

EVALUATOR = "evaluator"
# Killed twice in one attempt, these are taken for the attempt's own fault, as docs/design.md says:
# an attempt may well use up a machine's memory.
ONCE_AN_ATTEMPT = {
    "cell", "bwrap of a cell", "compiler", "bwrap of a compiler", "nvcc", "cicc", "cudafe++",
    "ptxas", "fatbinary", "gcc", "cc1", "cc1plus", "as", "collect2", "ld", "pkbench-ptx2c", "sh",
}  # fmt: skip
MODULES = {"harness.runner": "runner", "harness.runner.resolve": "resolver"}


def kind(process: Process) -> str:
    """The program's name, or what it is to us."""
    words = process.command.split(" ")
    name = words[0].rsplit("/", 1)[-1]
    if name.startswith("python"):
        module = words[words.index("-m") + 1] if "-m" in words else ""
        return MODULES.get(module, "python")
    if name == "bwrap":
        return "bwrap of a cell" if "/pkbench-cell" in process.command else "bwrap of a compiler"
    return {"pkbench-judge": "judge", "pkbench-cell": "cell"}.get(name, name)


def is_idle_cell(process: Process) -> bool:
    """A cell without an attempt is only waiting for its turn."""
    try:
        return "attempt.so" not in Path(f"/proc/{process.pid}/maps").read_text()
    except OSError:
        return True


class Victims:
    """Kinds are drawn with a preference for those that were hit least."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.hits: Counter[str] = Counter()

    def choose(self, root: int, is_spent: bool) -> tuple[str, Process] | None:
        """`is_spent`: what may be killed once an attempt was killed already."""
        found: dict[str, list[Process]] = {}
        for process in descendants(root):
            if process.command.strip():
                found.setdefault(kind(process), []).append(process)
        if (own := look(root)) is not None:
            found[EVALUATOR] = [own]
        kinds = [name for name in sorted(found) if not (is_spent and name in ONCE_AN_ATTEMPT)]
        if not kinds:
            return None
        weights = [1 / (1 + self.hits[name]) for name in kinds]
        (name,) = self.random.choices(kinds, weights)
        return name, self.random.choice(found[name])

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
