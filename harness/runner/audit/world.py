# SPDX-License-Identifier: Apache-2.0
"""Worlds of real processes with one process group each, in which references run.

A task is a function (Rank, *arguments) -> result of a module that the workers can import; it runs
on all ranks at once, and one group serves all tasks.
"""

import multiprocessing
import os
import signal
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass

import torch

from harness.runner.groups import Groups

COLLECTIVE_S = 60  # a collective that the others never join
TASK_S = 600


class WorldFault(RuntimeError):
    """A task failed on a rank; the message ends with its traceback."""


@dataclass
class Rank:
    rank: int
    world: int
    groups: Groups


class World:
    """`size` processes; close it (or use `with`). On `cuda` rank r has GPU r."""

    def __init__(self, size: int, device: str = "cpu"):
        self.size = size
        self.is_broken = False  # after a failed task: the ranks' collectives no longer fit
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["harness.runner.audit.examine"])  # torch is loaded once
        handle, store = tempfile.mkstemp(prefix="pkb-store-")
        os.close(handle)
        os.unlink(store)
        self._store = store
        self._pipes, self._processes = [], []
        for rank in range(size):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_work, args=(theirs, rank, size, store, device), daemon=True
            )
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def run(self, task: Callable, *arguments) -> list:
        """Results of all ranks; WorldFault with a rank's traceback if one failed."""
        for pipe in self._pipes:
            pipe.send((task, arguments))
        self.is_broken = True
        answers = [self._answer(rank) for rank in range(self.size)]
        failed = [(rank, value) for rank, (is_good, value) in enumerate(answers) if not is_good]
        if failed:
            # One that was left alone in a collective fails later and less clearly.
            rank, reason = min(failed, key=lambda item: "gloo" in item[1] or "NCCL" in item[1])
            raise WorldFault(f"rank {rank}: {reason}")
        self.is_broken = False
        return [value for _, value in answers]

    def _answer(self, rank: int) -> tuple:
        pipe = self._pipes[rank]
        try:
            if pipe.poll(TASK_S):
                return pipe.recv()
        except (EOFError, OSError):
            return False, "its process has ended"
        return False, f"it did not answer within {TASK_S} seconds"

    def close(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(0 if self.is_broken else 5)
            if process.is_alive():
                process.kill()
                process.join()
        if os.path.exists(self._store):
            os.unlink(self._store)

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *_) -> None:
        self.close()


class Worlds:
    """Worlds by size, started when first asked for and again when one has broken."""

    def __init__(self, device: str = "cpu"):
        self._device = device
        self._running: dict[int, World] = {}

    def __call__(self, size: int) -> World:
        if size in self._running and self._running[size].is_broken:
            self._running.pop(size).close()
        if size not in self._running:
            self._running[size] = World(size, self._device)
        return self._running[size]

    def close(self) -> None:
        for world in self._running.values():
            world.close()
        self._running = {}


def _work(pipe, rank: int, size: int, store: str, device: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and closes the pipe
    torch.set_num_threads(1)
    if device == "cuda":
        torch.cuda.set_device(rank)
    me = None
    while True:
        try:
            task, arguments = pipe.recv()
        except EOFError:
            os._exit(0)
        try:
            me = me or Rank(rank, size, Groups(rank, size, store, COLLECTIVE_S, device))
            pipe.send((True, task(me, *arguments)))
        except Exception:
            pipe.send((False, traceback.format_exc()))
