# SPDX-License-Identifier: Apache-2.0
"""A process tree, as /proc shows it, for tests that kill parts of it."""

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

# What takes longer hangs; a busy machine may be a hundred times slower than an idle one.
HUNG_S = 300


@dataclass(frozen=True)
class Process:
    """One process; `started` tells it from a later one with the same number."""

    pid: int
    started: str
    command: str

    def is_alive(self) -> bool:
        found = look(self.pid)
        return found is not None and found.started == self.started


def _stat(pid: int) -> list[str] | None:
    """Fields of /proc/pid/stat from the state on; None if it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    return None if fields[0] in "ZX" else fields


def state(process: Process) -> str:
    """Its letter in /proc ("R", "S", "T"); "" if it has ended."""
    fields = _stat(process.pid)
    return fields[0] if fields and fields[19] == process.started else ""


def look(pid: int) -> Process | None:
    fields = _stat(pid)
    if fields is None:
        return None
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return None
    return Process(pid, fields[19], command)


def parent(pid: int) -> int | None:
    """None if it has ended."""
    fields = _stat(pid)
    return int(fields[1]) if fields else None


def descendants(root: int) -> list[Process]:
    """All processes below `root`, itself not included."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            parents[int(entry.name)] = int(fields[1])
    found, border = [], [root]
    while border:
        above = border.pop()
        below = [pid for pid, parent in parents.items() if parent == above]
        found += [process for pid in below if (process := look(pid))]
        border += below
    return found


def wait_until(condition, seconds: float = HUNG_S) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return bool(condition())


def kill(process: Process) -> None:
    os.kill(process.pid, 9)


def within(megabytes: int):
    """Limits the memory of a process to come, libraries included."""
    limit = megabytes << 20
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
