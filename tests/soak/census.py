# SPDX-License-Identifier: Apache-2.0
"""What a run holds at a moment: processes, descriptors, memory, files; and whether that grows."""

import os
import statistics
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.processes import Process, descendants, look
from tests.soak.victims import EVALUATOR, kind

LONG_LIVED = {EVALUATOR, "mpirun", "judge", "runner", "fork"}


@dataclass(frozen=True)
class Holding:
    """What one process holds."""

    name: str
    process: Process
    fds: int
    threads: int
    mappings: int
    pss_kib: int
    rss_kib: int


def _field(path: Path, name: str) -> int:
    """The number behind `name:`."""
    for line in path.read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    raise ValueError(f"{path} has no {name}")


def holding(name: str, process: Process) -> Holding | None:
    """None if it has ended meanwhile."""
    proc = Path(f"/proc/{process.pid}")
    try:
        return Holding(
            name=name,
            process=process,
            fds=len(os.listdir(proc / "fd")),
            threads=_field(proc / "status", "Threads"),
            mappings=len((proc / "maps").read_text().splitlines()),
            pss_kib=_field(proc / "smaps_rollup", "Pss"),
            rss_kib=_field(proc / "smaps_rollup", "Rss"),
        )
    except (OSError, ValueError):
        return None


def zombies(root: int) -> int:
    """Below `root`; they have no descendants."""
    below = {root, *(process.pid for process in descendants(root))}
    count = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            text = (entry / "stat").read_text()
        except OSError:
            continue
        state, parent = text[text.rindex(")") + 2 :].split()[:2]
        count += state == "Z" and int(parent) in below
    return count


def long_lived(root: int) -> list[Holding]:
    found = [(kind(process), process) for process in descendants(root)]
    if (own := look(root)) is not None:
        found.append((EVALUATOR, own))
    held = [holding(name, process) for name, process in found if name in LONG_LIVED]
    return [one for one in held if one is not None]


def size_of(folder: Path) -> tuple[int, int]:
    """Entries and bytes below it."""
    count = total = 0
    for path in folder.rglob("*"):
        try:
            status = path.lstat()
        except OSError:
            continue
        count += 1
        total += status.st_blocks * 512
    return count, total


def take(root: int, work: Path, cache: Path, attempts: int) -> dict:
    """One row: numbers by name. A process is named by what it is and its pid."""
    row: dict = {"attempts": attempts}
    for one in long_lived(root):
        name = f"{one.name} {one.process.pid}"
        for what in ("fds", "threads", "mappings", "pss_kib", "rss_kib"):
            row[f"{name} {what}"] = getattr(one, what)
    row["processes"] = len(descendants(root)) + 1
    row["zombies"] = zombies(root)
    row["work entries"], row["work bytes"] = size_of(work)
    row["cache entries"], row["cache bytes"] = size_of(cache)
    row["shm entries"] = len(os.listdir("/dev/shm"))
    return row


# ---- does it grow? ----


@dataclass(frozen=True)
class Trend:
    """A line through one series: change per 100 attempts and its standard error."""

    first: float
    last: float
    slope: float
    error: float
    points: int

    def __str__(self) -> str:
        return (
            f"{self.first:g} -> {self.last:g}; {self.slope:+.3g} +- {self.error:.2g} per 100 "
            f"attempts ({self.points} points)"
        )


def trend(rows: list[dict], name: str) -> Trend | None:
    """None where fewer than four rows have it."""
    points = [(row["attempts"] / 100, row[name]) for row in rows if name in row]
    if len(points) < 4:
        return None
    xs, ys = [x for x, _ in points], [y for _, y in points]
    if len(set(xs)) < 2:
        return None
    slope, begin = statistics.linear_regression(xs, ys)
    centre = statistics.fmean(xs)
    spread = sum((x - centre) ** 2 for x in xs)
    rest = sum((y - begin - slope * x) ** 2 for x, y in points)
    error = (rest / (len(points) - 2) / spread) ** 0.5
    return Trend(ys[0], ys[-1], slope, error, len(points))


# What may be gained per 100 attempts before it counts: less than this is noise or fragmentation. A
# runner gains 1.7 MiB in all while PyTorch's log of its last 2000 collectives fills up.
ALLOWED = {"fds": 0.5, "threads": 0.5, "mappings": 5, "pss_kib": 512, "rss_kib": 512,
           "processes": 0.5, "zombies": 0.5, "work entries": 2, "work bytes": 64 << 10,
           "shm entries": 0.5}  # fmt: skip


def trends(rows: list[dict]) -> dict[str, Trend]:
    names = dict.fromkeys(name for row in rows for name in row if name != "attempts")
    found = {name: trend(rows, name) for name in names}
    return {name: one for name, one in found.items() if one is not None}


def limit_of(name: str) -> float | None:
    """By the whole name or its last word; None: it may grow (the cache has a limit of its own)."""
    return ALLOWED.get(name, ALLOWED.get(name.split()[-1]))


def leaks(found: dict[str, Trend]) -> list[str]:
    """Series that rise beyond noise and beyond what is allowed."""
    return [f"grows: {name}: {one}" for name, one in found.items()
            if (limit := limit_of(name)) is not None
            and one.slope - 2 * one.error > limit]  # fmt: skip
