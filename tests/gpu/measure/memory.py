# SPDX-License-Identifier: Apache-2.0
"""Who holds how much GPU memory, by NVML; without it nothing is seen."""

import threading
import time
from contextlib import suppress
from pathlib import Path

PERIOD_S = 0.05
ROLES = {"pkbench-cell": "cell", "pkbench-judge": "judge", "harness.runner": "runner"}

try:
    import pynvml
except ImportError:
    pynvml = None


def _devices() -> list:
    if pynvml is None:
        return []
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return []
    return [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]


def used_mib() -> list[int]:
    """In use on each GPU, by whomever."""
    return [pynvml.nvmlDeviceGetMemoryInfo(device).used >> 20 for device in _devices()]


def holders() -> dict[int, int]:
    """Process -> MiB on the GPU where it holds most."""
    found: dict[int, int] = {}
    for device in _devices():
        for process in pynvml.nvmlDeviceGetComputeRunningProcesses(device):
            mib = (process.usedGpuMemory or 0) >> 20
            found[process.pid] = max(found.get(process.pid, 0), mib)
    return found


def role_of(pid: int) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "?"
    return next((role for mark, role in ROLES.items() if mark in command), "other")


class Sampler:
    """A context manager that remembers the most that each role held, in MiB: `peak`."""

    def __init__(self):
        self.peak: dict[str, int] = {}
        self._roles: dict[int, str] = {}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Sampler":
        if _devices():
            self._thread.start()
        return self

    def take(self) -> dict[str, int]:
        """The peaks since the last call."""
        peak, self.peak = self.peak, {}
        return peak

    def __exit__(self, *_) -> None:
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._is_over.is_set():
            with suppress(pynvml.NVMLError):
                self._look()
            time.sleep(PERIOD_S)

    def _look(self) -> None:
        for pid, mib in holders().items():
            if pid not in self._roles:
                self._roles[pid] = role_of(pid)
            self._raise(self._roles[pid], mib)
        self._raise("gpu", max(used_mib(), default=0))

    def _raise(self, role: str, mib: int) -> None:
        self.peak[role] = max(self.peak.get(role, 0), mib)
