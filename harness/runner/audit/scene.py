# SPDX-License-Identifier: Apache-2.0
"""A problem at one size on one world, and single draws of it: the inputs of all ranks at once, what
they should give, and what they would give if some of them were others.
"""

import math
from dataclasses import dataclass

import torch

from harness.runner.case import Case, Draw, Tensors
from harness.runner.compare import Errors
from harness.runner.memory import TORCH_DTYPES, UNWRITTEN
from harness.runner.problem import METRICS, Argument, Problem, ProblemError
from harness.runner.resolve import Grid, Resolved, grids, resolve_all, resolve_size

OTHER_TRIAL = 1000  # trials from here on are those of redrawn inputs


@dataclass(frozen=True)
class Place:
    """What is audited at a time; goes to the processes of a world."""

    problem: Problem
    size: str
    world: int
    grid: str = ""
    device: str = "cpu"

    def __str__(self) -> str:
        grid = f", grid {self.grid}" if self.grid else ""
        return f"{self.problem.name}, size {self.size}, P = {self.world}{grid}"

    def case(self, secret: str) -> Case:
        grid = self._grid()
        size = self.problem.size(self.size)
        return Case(resolve_size(self.problem, size, self.world, grid), secret, self.device)

    def _grid(self) -> Grid:
        for grid in grids(self.problem.axes, self.world):
            if str(grid) == self.grid:
                return grid
        raise ProblemError(f"{self.problem.name} has no grid '{self.grid}' at P = {self.world}")

    def tolerance(self, output: str) -> Errors:
        return tolerance_of(self.problem, output, self.device)


def tolerance_of(problem: Problem, output: str, device: str) -> Errors:
    """The file's bounds; zero where it has none."""
    numbers = problem.tolerance_of(output, device)
    return Errors(*(numbers.get(metric, 0.0) for metric in METRICS))


def places_of(problem: Problem, sizes: list[str], worlds: list[int], device: str) -> list[Place]:
    """Every size on every world and grid shape on which the problem's conditions allow it."""
    found = []
    for world in worlds:
        for size in sizes:
            try:
                possible = resolve_all(problem, problem.size(size), world)
            except ProblemError:
                continue  # `require` does not allow this world
            found += [Place(problem, size, world, str(one.grid), device) for one in possible]
    return found


class Scene:
    """One draw on all ranks."""

    def __init__(self, case: Case, trial: int = 0, family: str = "nominal"):
        self.case = case
        self.seed = case.seed(trial, family)
        self.family = family
        self.world = case.resolved.world
        self.inputs = [case.draw(rank, self.seed) for rank in range(self.world)]
        self.resolved = case.resolve_draws(self.inputs)
        self._expected: dict[int, Tensors] = {}
        self._redrawn: dict[tuple[int, int, bool], Draw] = {}

    def expect(self, rank: int, inputs: list[Draw] | None = None) -> Tensors:
        """What the oracle expects of a rank, from these inputs or from others."""
        if inputs is None and rank in self._expected:
            return self._expected[rank]
        given = self.inputs if inputs is None else inputs
        resolved = self.resolved if inputs is None else self.case.resolve_draws(inputs)
        expected = self.case.run_oracle(
            self.case.context(resolved, rank, self.seed), resolved, given
        )
        if inputs is None:
            self._expected[rank] = expected
        return expected

    def answer(self, rank: int) -> Tensors:
        """The oracle's formula as it is computed now, say in another arithmetic, each output
        rounded once to its dtype."""
        context = self.case.context(self.resolved, rank, self.seed)
        found = self.case.module.oracle(context, self.inputs)
        return {
            argument.name: as_output(argument, found[argument.name])
            for argument in self.case.problem.outputs
            if argument.name in found
        }

    def tolerance(self, output: str) -> Errors:
        return tolerance_of(self.case.problem, output, self.case.device)

    def blank(self, rank: int) -> Draw:
        """Inputs that contribute nothing; host arrays that are no data stay."""
        draw = self.inputs[rank]
        tensors = {
            name: tensor if self._is_fixed(name) else torch.zeros_like(tensor)
            for name, tensor in draw.tensors.items()
        }
        return Draw(tensors, draw.scalars, draw.dims)

    def is_blank(self, rank: int) -> bool:
        """Whether a rank's inputs are all zero or empty."""
        return not any(
            bytes_of(tensor).any()
            for name, tensor in self.inputs[rank].tensors.items()
            if not self._is_fixed(name)
        )

    def _is_fixed(self, name: str) -> bool:
        return self.case.problem.argument(name).is_fixed

    def redraw(self, rank: int, attempt: int) -> Draw:
        """Other inputs of one rank; what it shares with others stays."""
        return self._redraw(rank, attempt, is_own=True)

    def redraw_shared(self, rank: int, attempt: int) -> Draw:
        """A rank's inputs with other shared randomness; all ranks' fit each other."""
        return self._redraw(rank, attempt, is_own=False)

    def _redraw(self, rank: int, attempt: int, is_own: bool) -> Draw:
        key = (rank, attempt, is_own)
        if key not in self._redrawn:
            other = self.case.seed(OTHER_TRIAL + attempt, self.family)
            shared, own = (self.seed, other) if is_own else (other, self.seed)
            self._redrawn[key] = self.case.draw(rank, shared, own_seed=own)
        return self._redrawn[key]

    def guess(self, rank: int) -> Draw:
        """Inputs of one rank as somebody might invent them; where it shares all, also those."""
        guess = self.redraw(rank, 0)
        tensors = self.inputs[rank].tensors
        if all(same_bits(tensor, tensors[name]) for name, tensor in guess.tensors.items()):
            return self.redraw_shared(rank, 0)
        return guess


def has_rows(scene: Scene, rank: int, output: str) -> bool:
    """Whether a rank has any element of an output."""
    expected = scene.expect(rank)
    return output in expected and expected[output].numel() > 0


def fitted(tensor: torch.Tensor, shape: list[int] | torch.Size) -> torch.Tensor:
    """The elements of `tensor` from the start, over and over, in another shape; zeros if none."""
    count = math.prod(shape)
    if tensor.numel() == 0:
        return torch.zeros(shape, dtype=tensor.dtype, device=tensor.device)
    flat = tensor.reshape(-1)
    return flat.repeat(-(-count // flat.numel()))[:count].view(shape)


def bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def same_bits(one: torch.Tensor, two: torch.Tensor) -> bool:
    return one.shape == two.shape and torch.equal(bytes_of(one), bytes_of(two))


def as_output(argument: Argument, value: torch.Tensor) -> torch.Tensor:
    """An expected output as a program would return it: rounded once to the output's dtype."""
    return value.to(TORCH_DTYPES[argument.dtype])


def poisoned(case: Case, resolved: Resolved, rank: int) -> Tensors:
    """Outputs of a rank, filled so that what nobody writes shows."""
    outputs = {}
    for argument in case.problem.outputs:
        if resolved.present(argument, rank):
            shape, dtype = resolved.shape(argument, rank), TORCH_DTYPES[argument.dtype]
            outputs[argument.name] = torch.empty(shape, dtype=dtype, device=case.device)
            outputs[argument.name].view(-1).view(torch.uint8).fill_(UNWRITTEN)
    return outputs


def run_reference(me, scene: Scene) -> Tensors:
    """The reference's outputs on one rank of a world. ProblemError if it changes an input that is
    no inout."""
    case, own = scene.case, scene.inputs[me.rank]
    outputs = poisoned(case, scene.resolved, me.rank)
    used = Draw(
        {name: _given(case, name, tensor) for name, tensor in own.tensors.items()},
        own.scalars,
        own.dims,
    )
    for name in outputs.keys() & used.tensors.keys():
        outputs[name].copy_(used.tensors[name])
        used.tensors[name] = outputs[name]
    context = case.context(scene.resolved, me.rank, scene.seed)
    context.connect(me.groups.of(scene.resolved.grid), outputs)
    case.run_reference(context, used.arguments(), outputs)
    if case.device == "cuda":
        torch.cuda.synchronize()
    for name in own.tensors.keys() - outputs.keys():
        if not same_bits(own.tensors[name].cpu(), used.tensors[name].cpu()):
            raise ProblemError(f"the reference changed its input '{name}'")
    return outputs


def _given(case: Case, name: str, tensor: torch.Tensor) -> torch.Tensor:
    """An input as a runner hands it over; host arrays lie in host memory."""
    return (tensor.cpu() if case.problem.argument(name).role == "host" else tensor).clone()
