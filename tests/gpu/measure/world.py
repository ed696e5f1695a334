# SPDX-License-Identifier: Apache-2.0
"""Attempts judged one after another by the same judges, which are started again when they fail."""

import time
from pathlib import Path

from tests.e2e.judges import Judges
from tests.gpu.measure.bench import Bench


class World:
    """A context manager; a failure of the judges is told as INFRA_ERROR, not raised."""

    def __init__(self, bench: Bench, problem: str, sizes: str):
        self.bench, self.problem, self.sizes = bench, problem, sizes
        self.judges: Judges | None = None
        self.start_s = 0.0

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        if self.judges is not None:
            self.judges.__exit__()
        self.judges = None

    def judge(self, built: Path, size: str) -> dict:
        """One verdict event, with the wall time it took and what rank 0 printed."""
        begin = time.monotonic()
        try:
            if self.judges is None:
                self.judges = self.bench.judges(self.problem, self.sizes)
                self.start_s = time.monotonic() - begin
            printed = self.judges.work / "rank0.txt"  # grows from one attempt to the next
            printed.unlink(missing_ok=True)
            begin = time.monotonic()
            event = self.judges.attempt(built, sizes=[size])
            text = printed.read_text(errors="replace") if printed.exists() else ""
        except AssertionError as error:
            self.close()
            event = {"verdict": "INFRA_ERROR", "reason": str(error)[:400], "sizes": []}
            text = ""
        return {**event, "wall_s": round(time.monotonic() - begin, 3), "printed": text}
