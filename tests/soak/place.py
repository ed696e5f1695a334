# SPDX-License-Identifier: Apache-2.0
"""Where a part of the soak runs: folders of its own, so that what is left can be seen."""

import json
import math
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.command import PKBENCH
from tests.e2e.processes import look, wait_until
from tests.soak.cpu import CpuGroup

GONE_S = 10
OPTIONS = ("--device", "cpu", "-n", "2", "--sizes", "tiny", "--no-timing")


def _folder(name: str) -> Path:
    """Short: paths of sockets have 108 bytes at most."""
    return Path(tempfile.mkdtemp(prefix=f"pks-{name}", dir="/tmp"))


@dataclass
class Place:
    """A context manager; `out` stays, all else goes."""

    out: Path
    kept_cache: Path | None = None
    until: float = math.inf  # by time.monotonic: then nothing new begins
    work: Path = field(default_factory=lambda: _folder("w"))

    shared_memory: set[str] = field(default_factory=lambda: shared_memory())

    def __post_init__(self):
        self.cache = self.kept_cache or _folder("c")
        self.cache.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> "Place":
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True, exist_ok=True)
        self.cpu = CpuGroup().__enter__()
        return self

    def __exit__(self, *_) -> None:
        self.cpu.__exit__()
        shutil.rmtree(self.work, ignore_errors=True)
        if self.kept_cache is None:
            shutil.rmtree(self.cache, ignore_errors=True)

    def is_over(self) -> bool:
        return time.monotonic() >= self.until

    @property
    def environment(self) -> dict[str, str]:
        mine = {"PKBENCH_TMPDIR": str(self.work), "TMPDIR": str(self.work)}
        mine["PKBENCH_CACHE"] = str(self.cache)
        return {**os.environ, **mine}

    def start(self, *arguments, **options) -> subprocess.Popen:
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([PKBENCH, *map(str, arguments)], env=self.environment, **options)

    def files_left(self) -> list[str]:
        """In the work folder, sockets and pipes included."""
        return [str(path) for path in self.work.rglob("*") if not path.is_dir()]

    def sockets_left(self) -> list[str]:
        """Bound below the work folder, whoever holds them."""
        lines = Path("/proc/net/unix").read_text().splitlines()
        return [line.split()[-1] for line in lines if str(self.work) in line]

    def processes_left(self) -> list[str]:
        """Whatever has the work folder in its environment or its command."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or entry.name == str(os.getpid()):
                continue
            try:
                text = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(self.work).encode() in text and look(int(entry.name)) is not None:
                found.append(look(int(entry.name)).command[:120])
        return found

    def left(self) -> list[str]:
        """What is there though nothing runs any more; processes get a moment to go."""
        wait_until(lambda: not self.processes_left(), GONE_S)
        found = {"process": self.processes_left(), "file": self.files_left()}
        found["socket"] = self.sockets_left()
        found["/dev/shm"] = sorted(shared_memory() - self.shared_memory)
        return [f"left: {what} {name}" for what, names in found.items() for name in names]

    def renew_cache(self) -> None:
        shutil.rmtree(self.cache)
        self.cache.mkdir(mode=0o700)

    def store(self, name: str, result: dict) -> None:
        text = json.dumps(result, indent=1, ensure_ascii=False)
        (self.out / f"{name}.json").write_text(text + "\n")


def shared_memory() -> set[str]:
    return set(os.listdir("/dev/shm"))


class Clock:
    """Wall time, CPU time of all that was started, and how busy the machine is."""

    def __init__(self, group: CpuGroup):
        self.group, self.begin, self.load = group, time.monotonic(), [os.getloadavg()[0]]
        self.cpu_s = group.seconds()

    def look(self) -> None:
        self.load.append(os.getloadavg()[0])

    def read(self, count: int) -> dict:
        self.look()
        wall_s, found = time.monotonic() - self.begin, {}
        if self.cpu_s is not None:
            spent_s = self.group.seconds() - self.cpu_s
            found["cpu_s_per_attempt"] = round(spent_s / max(1, count), 2)
        return {
            "attempts": count,
            "wall_s": round(wall_s, 1),
            "attempts_per_minute": round(60 * count / wall_s, 1),
            **found,
            "load_of_machine": round(sum(self.load) / len(self.load), 1),
            "cores": os.cpu_count(),
        }
