# SPDX-License-Identifier: Apache-2.0
"""One problem at one size, on tensors: draws inputs, runs the reference and the oracle, and checks
that all three do what the problem file says. Knows no process and no shared memory.
"""

import functools
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import torch

from harness.runner.context import Context, Seed
from harness.runner.memory import TORCH_DTYPES, oracle_dtype
from harness.runner.problem import Argument, Problem, ProblemError
from harness.runner.resolve import Resolved, resolve_size

FUNCTIONS = ("make_inputs", "reference", "oracle")
Tensors = dict[str, torch.Tensor]


@dataclass
class Draw:
    """One rank's inputs: tensors (host arrays included), scalars, and the values of drawn dims."""

    tensors: Tensors
    scalars: dict[str, int | float]
    dims: dict[str, int]

    def __getitem__(self, name: str):
        for values in (self.tensors, self.scalars, self.dims):
            if name in values:
                return values[name]
        raise KeyError(name)

    def __contains__(self, name: str) -> bool:
        return name in self.tensors or name in self.scalars or name in self.dims

    def arguments(self) -> dict:
        """Keyword arguments of a reference."""
        return {**self.tensors, **self.scalars}


class RankInputs(Sequence):
    """`inputs_of_all_ranks`: what rank q drew, drawn again here when it is first looked at."""

    def __init__(self, case: "Case", seed: Seed, own_rank: int, own: Draw):
        self._draw = functools.cache(lambda q: own if q == own_rank else case.draw(q, seed))
        self._world = case.resolved.world

    def __len__(self) -> int:
        return self._world

    def __getitem__(self, rank: int) -> Draw:
        if not 0 <= rank < self._world:
            raise IndexError(rank)
        return self._draw(rank)


class Case:
    """A resolved size of a problem with its reference module and a session's secret."""

    def __init__(self, resolved: Resolved, secret: str, device: str = "cpu"):
        self.resolved = resolved
        self.problem = resolved.problem
        self.secret = secret
        self.device = device
        self.module = load_reference(resolved.problem)

    def seed(self, trial: int, family: str) -> Seed:
        if family not in self.problem.families:
            raise ProblemError(f"{self.problem.name} has no input family '{family}'")
        size, grid = self.resolved.size.name, str(self.resolved.grid)
        return Seed(self.secret, self.problem.name, size, grid, family, trial)

    def draw(self, rank: int, seed: Seed, own_seed: Seed | None = None) -> Draw:
        """The inputs of any rank; the same on whichever rank it is called. `own_seed`: Context."""
        context = Context(self.resolved, rank, seed, self.device, own_seed)
        given = self.module.make_inputs(context)
        draw = Draw({}, {}, {name: _integer(given, name) for name in sorted(self.problem.drawn)})
        for argument in self.problem.arguments:
            if argument.role == "scalar":
                draw.scalars[argument.name] = _scalar(given, argument)
            elif argument.name in given and argument.is_input:
                draw.tensors[argument.name] = given[argument.name]
        unknown = set(given) - set(draw.tensors) - set(draw.scalars) - set(draw.dims)
        if unknown:
            raise ProblemError(f"make_inputs returned '{min(unknown)}', which is no input")
        if not self.problem.drawn:
            self.check(draw, self.resolved, rank)
        return draw

    def resolve(self, seed: Seed) -> Resolved:
        """The size with the drawn dims of a draw; `resolved` itself where none is drawn."""
        if not self.problem.drawn:
            return self.resolved
        return self.resolve_draws([self.draw(rank, seed) for rank in range(self.resolved.world)])

    def resolve_draws(self, draws: list[Draw]) -> Resolved:
        """The same from the inputs of all ranks."""
        if not self.problem.drawn:
            return self.resolved
        drawn = {name: [draw.dims[name] for draw in draws] for name in self.problem.drawn}
        base = self.resolved
        resolved = resolve_size(base.problem, base.size, base.world, base.grid, drawn)
        for rank, draw in enumerate(draws):
            self.check(draw, resolved, rank)
        return resolved

    def check(self, draw: Draw, resolved: Resolved, rank: int) -> None:
        """ProblemError where a tensor is missing, superfluous or of a wrong shape or dtype."""
        for argument in self.problem.arguments:
            if not argument.is_input:
                continue
            is_given = argument.name in draw.tensors
            if is_given != resolved.present(argument, rank):
                fault = "returned" if is_given else "did not return"
                raise ProblemError(f"make_inputs {fault} '{argument.name}' on rank {rank}")
            if is_given:
                shape = resolved.shape(argument, rank)
                _check_tensor("make_inputs", argument, draw.tensors[argument.name], shape)

    def context(self, resolved: Resolved, rank: int, seed: Seed) -> Context:
        return Context(resolved, rank, seed, self.device)

    def run_reference(self, context: Context, arguments: dict, outputs: Tensors) -> None:
        """The reference, once; everything in here is timed. `arguments` are a draw's, `outputs`
        those present here."""
        results = self.module.reference(context, **arguments)
        for name, output in outputs.items():
            result = results.get(name)
            if result is output:
                continue  # as it should be; the rest would cost time
            if result is None:
                raise ProblemError(f"the reference did not return '{name}'")
            if result.numel() and result.data_ptr() != output.data_ptr():
                if not self.problem.argument(name).copies_out:
                    raise ProblemError(
                        f"the reference returned another tensor than ctx.out('{name}'), and the "
                        "problem file does not say copies_out"
                    )
                output[: len(result)].copy_(result) if result.dim() else output.copy_(result)

    def run_oracle(self, context: Context, resolved: Resolved, inputs: RankInputs) -> Tensors:
        """This rank's expected outputs, in the dtypes of the oracle area, and NAME_alt of codes."""
        results = dict(self.module.oracle(context, inputs))
        expected = {}
        for argument in self.problem.outputs:
            if not resolved.present(argument, context.rank):
                continue
            names = [argument.name]
            if "quantized" in argument.check.values():
                names.append(f"{argument.name}_alt")
            for name in names:
                if name not in results:
                    raise ProblemError(f"the oracle did not return '{name}'")
                expected[name] = _expected(argument, results.pop(name), resolved, context.rank)
        if results:
            raise ProblemError(f"the oracle returned '{min(results)}', which is no output here")
        return expected


def load_reference(problem: Problem) -> ModuleType:
    """references/NNN_name.py of a problem; ProblemError if it lacks one of its functions."""
    path = problem.reference_path
    spec = importlib.util.spec_from_file_location(f"reference_{problem.name}", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except FileNotFoundError:
        raise ProblemError(f"there is no {path}") from None
    for name in FUNCTIONS:
        if not callable(getattr(module, name, None)):
            raise ProblemError(f"{path.name} has no function {name}")
    return module


def _expected(argument: Argument, value: torch.Tensor, resolved: Resolved, rank: int):
    wanted = oracle_dtype(argument.dtype)
    is_exact = set(argument.check.values()) <= {"exact", "quantized"}
    if value.dtype != wanted and not (is_exact and value.dtype == TORCH_DTYPES[argument.dtype]):
        raise ProblemError(
            f"the oracle's '{argument.name}' is {value.dtype}, it has to be {wanted}"
        )
    shape = resolved.shape(argument, rank)
    fits = list(value.shape) == shape
    if argument.count and value.dim() == len(shape):
        fits = value.shape[0] <= shape[0] and list(value.shape[1:]) == shape[1:]
    if not fits:
        raise ProblemError(
            f"the oracle's '{argument.name}' has the shape {list(value.shape)}, not {shape}"
        )
    return value.to(wanted)


def _check_tensor(who: str, argument: Argument, tensor: torch.Tensor, shape: list[int]) -> None:
    if tensor.dtype != TORCH_DTYPES[argument.dtype] or list(tensor.shape) != shape:
        raise ProblemError(
            f"{who} returned '{argument.name}' as {tensor.dtype} {list(tensor.shape)}; "
            f"the problem file says {argument.dtype} {shape}"
        )


def _scalar(given: dict, argument: Argument) -> int | float:
    kind = float if argument.dtype == "f64" else int
    value = given.get(argument.name)
    if isinstance(value, bool) or not isinstance(value, kind):
        raise ProblemError(f"make_inputs has to return a Python {kind.__name__} '{argument.name}'")
    return value


def _integer(given: dict, name: str) -> int:
    value = given.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ProblemError(f"make_inputs has to return an int for the drawn dim '{name}'")
    return value
