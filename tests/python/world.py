# SPDX-License-Identifier: Apache-2.0
"""Worlds of real processes with one gloo group each, for references in tests and calibration.

A task is a function (Rank, *arguments) -> result of a module that the workers can import; it runs
on all ranks at once, and one group serves all tasks.
"""

import multiprocessing
import os
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass

import torch

from harness.runner.case import Case, Draw, RankInputs, Tensors
from harness.runner.groups import Groups
from harness.runner.memory import TORCH_DTYPES
from harness.runner.resolve import grids, resolve_size

TIMEOUT_S = 60


@dataclass
class Rank:
    rank: int
    world: int
    groups: Groups


class World:
    """`size` processes; close it (or use `with`)."""

    def __init__(self, size: int):
        self.size = size
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        handle, store = tempfile.mkstemp(prefix="pkb-store-")
        os.close(handle)
        os.unlink(store)
        self._store = store
        self._pipes, self._processes = [], []
        for rank in range(size):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, rank, size, store), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def run(self, task: Callable, *arguments) -> list:
        """Results of all ranks; RuntimeError with a rank's traceback if one failed."""
        for pipe in self._pipes:
            pipe.send((task, arguments))
        answers = []
        for rank, pipe in enumerate(self._pipes):
            if not pipe.poll(TIMEOUT_S):
                raise TimeoutError(f"rank {rank} of {self.size} did not answer")
            answers.append(pipe.recv())
        for rank, (is_good, value) in enumerate(answers):
            if not is_good:
                raise RuntimeError(f"rank {rank}: {value}")
        return [value for _, value in answers]

    def close(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(5)
            if process.is_alive():
                process.kill()
        if os.path.exists(self._store):
            os.unlink(self._store)

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *_) -> None:
        self.close()


def _work(pipe, rank: int, size: int, store: str) -> None:
    torch.set_num_threads(1)
    me = Rank(rank, size, Groups(rank, size, store, TIMEOUT_S))
    while True:
        try:
            task, arguments = pipe.recv()
        except EOFError:
            os._exit(0)
        try:
            pipe.send((True, task(me, *arguments)))
        except Exception:
            pipe.send((False, traceback.format_exc()))


def make_case(problem, size: str, world: int, secret: str, shape: str = "") -> Case:
    """The case of a size on a grid shape (the first one where `shape` is empty)."""
    for grid in grids(problem.axes, world):
        if shape in ("", str(grid)):
            return Case(resolve_size(problem, problem.size(size), world, grid), secret)
    raise ValueError(f"no grid {shape}")


def poisoned_outputs(case: Case, resolved, rank: int) -> Tensors:
    """Outputs of a rank, filled so that what a reference forgets to write shows."""
    outputs = {}
    for argument in case.problem.outputs:
        if resolved.present(argument, rank):
            shape, dtype = resolved.shape(argument, rank), TORCH_DTYPES[argument.dtype]
            output = torch.empty(shape, dtype=dtype)
            output.view(-1).view(torch.uint8).fill_(0xA5)
            outputs[argument.name] = output
    return outputs


def blank(draw: Draw) -> Draw:
    """Inputs that contribute nothing."""
    return Draw({k: torch.zeros_like(t) for k, t in draw.tensors.items()}, draw.scalars, draw.dims)


def evaluate(me: Rank, case_of: tuple, trial: int, family: str) -> tuple[Tensors, Tensors]:
    """Outputs of the reference and of the oracle on one rank. `case_of`: arguments of make_case.
    Fails if the reference changes an input that is no inout."""
    case = make_case(*case_of)
    seed = case.seed(trial, family)
    resolved = case.resolve(seed)
    own = case.draw(me.rank, seed)
    context = case.context(resolved, me.rank, seed)
    expected = case.run_oracle(context, resolved, RankInputs(case, seed, me.rank, own))

    outputs = poisoned_outputs(case, resolved, me.rank)
    used = case.draw(me.rank, seed)
    for name in outputs.keys() & used.tensors.keys():
        outputs[name].copy_(used.tensors[name])
        used.tensors[name] = outputs[name]
    context.connect(me.groups.of(resolved.grid), outputs)
    case.run_reference(context, used.arguments(), outputs)
    for name in own.tensors.keys() - outputs.keys():
        if not torch.equal(own.tensors[name], used.tensors[name]):
            raise RuntimeError(f"the reference changed '{name}'")
    return outputs, expected
