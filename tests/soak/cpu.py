# SPDX-License-Identifier: Apache-2.0
"""CPU time of a whole tree of processes. What a process says of its children lacks those behind
bubblewrap, whose monitor does not wait for them; a control group misses none.
"""

import os
from pathlib import Path

V1, V2 = Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup")


def own_group(top: Path) -> Path:
    """Where this process is. A container sees its own group as the top one."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers == "" if top == V2 else "cpuacct" in controllers.split(","):
            place = top / group.lstrip("/")
            return place if place.is_dir() else top
    return top


class CpuGroup:
    """A context manager: this process and all that it starts are counted. Where no group can be
    made, `seconds` gives None."""

    def __init__(self):
        self._top = V1 if V1.is_dir() else V2
        self._home = own_group(self._top)  # whose limits hold on
        self._place = self._home / f"pkb-soak-{os.getpid()}"
        self._is_made = False

    def _enter(self, place: Path) -> None:
        (place / "cgroup.procs").write_text(str(os.getpid()))

    def __enter__(self) -> "CpuGroup":
        try:
            self._place.mkdir()
            self._enter(self._place)
            self._is_made = True
        except OSError:
            self._is_made = False
        return self

    def __exit__(self, *_) -> None:
        try:
            if self._is_made:
                self._enter(self._home)
            self._place.rmdir()
        except OSError:
            pass  # somebody is still in it, or it was never made

    def seconds(self) -> float | None:
        if not self._is_made:
            return None
        if self._top == V1:
            return int((self._place / "cpuacct.usage").read_text()) / 1e9
        words = (self._place / "cpu.stat").read_text().split()
        return int(words[words.index("usage_usec") + 1]) / 1e6
