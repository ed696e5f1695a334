# SPDX-License-Identifier: Apache-2.0
"""Turns a problem and a world into numbers: `python -m harness.runner.resolve PROBLEM -n P`.

Prints the plan of docs/protocol.md section 1. The runner uses the same functions, with the drawn
dims of a draw instead of their maxima. Needs no torch, and must stay fast.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harness.runner import expr
from harness.runner.problem import CLASSES, Argument, Problem, ProblemError, Size, find, load

MAX_RANKS = 64
COSTS = ("flop", "hbm_bytes", "sent_bytes")


@dataclass(frozen=True)
class Grid:
    """Named axes over the ranks, row-major: the last axis varies fastest."""

    axes: tuple[str, ...]
    shape: tuple[int, ...]

    def __str__(self) -> str:
        """`cp1xtp2`; empty for a problem with less than two axes, whose shape is given by P."""
        if len(self.axes) < 2:
            return ""
        return "x".join(f"{axis}{size}" for axis, size in zip(self.axes, self.shape, strict=True))

    def coordinates(self, rank: int) -> dict[str, int]:
        """This rank's place along each axis."""
        result = {}
        for axis, size in zip(reversed(self.axes), reversed(self.shape), strict=True):
            result[axis] = rank % size
            rank //= size
        return {axis: result[axis] for axis in self.axes}

    def ranks_along(self, axis: str, rank: int) -> tuple[int, ...]:
        """The group of `rank` along `axis`: all ranks that differ from it in this axis only."""
        stride = 1
        for name, size in zip(reversed(self.axes), reversed(self.shape), strict=True):
            if name == axis:
                first = rank - (rank // stride % size) * stride
                return tuple(range(first, first + size * stride, stride))
            stride *= size
        raise ProblemError(f"the grid has no axis '{axis}'")


@dataclass(frozen=True)
class Resolved:
    """A size on a world: every name's value on every rank. Shapes are those of `drawn` values
    where they were given, of the maxima otherwise."""

    problem: Problem
    size: Size
    grid: Grid
    world: int
    dims: dict[str, list[int]]
    varying: frozenset[str]  # drawn dims and all that follow from them
    scopes: list[dict[str, int]] = field(repr=False)

    def evaluate(self, text: str | int, rank: int, **extra: int) -> int:
        scope = {**self.scopes[rank], **extra} if extra else self.scopes[rank]
        return expr.evaluate(text, scope, self._over_ranks)

    def _over_ranks(self, name: str) -> list[int]:
        if name not in self.dims:
            raise expr.ExprError(f"unknown dim '{name}'")
        return self.dims[name]

    def shape(self, argument: Argument, rank: int) -> list[int]:
        """Local shape in elements; of an absent argument the shape it would have."""
        shape = [self.evaluate(axis, rank) for axis in argument.shape]
        if any(extent < 0 for extent in shape):
            raise ProblemError(
                f"{self.problem.name}, size {self.size.name}: argument '{argument.name}' has "
                f"the shape {shape} on rank {rank}"
            )
        return shape

    def present(self, argument: Argument, rank: int) -> bool:
        return bool(self.evaluate(argument.present, rank))


def grids(axes: tuple[str, ...], world: int) -> Iterator[Grid]:
    """All shapes of a world; a grid of one axis has one."""

    def shapes(count: int, ranks: int) -> Iterator[tuple[int, ...]]:
        if count == 1:
            yield (ranks,)
            return
        for first in range(1, ranks + 1):
            if ranks % first == 0:
                yield from ((first, *rest) for rest in shapes(count - 1, ranks // first))

    for shape in shapes(len(axes), world) if axes else [()]:
        yield Grid(axes, shape)


def resolve_size(
    problem: Problem,
    size: Size,
    world: int,
    grid: Grid,
    drawn: Mapping[str, list[int]] | None = None,
) -> Resolved:
    """Evaluates all dims on all ranks. `drawn` gives a draw's values, a list over ranks a dim;
    without it drawn dims take their maxima. ProblemError names a broken `require`."""
    scopes = [_first_scope(grid, world, rank) for rank in range(world)]
    dims: dict[str, list[int]] = {}
    varying: set[str] = set()
    resolved = Resolved(problem, size, grid, world, dims, frozenset(), scopes)
    for name, text in {**size.values, **problem.dims}.items():
        values = [resolved.evaluate(text, rank) for rank in range(world)]
        if name in problem.drawn and drawn is not None:
            _check_drawn(name, drawn[name], values)
            values = list(drawn[name])
        if min(values) < 0:
            raise ProblemError(f"{problem.name}, size {size.name}: dim '{name}' is {min(values)}")
        if name in problem.drawn or expr.names(text) & varying:
            varying.add(name)
        dims[name] = values
        for rank in range(world):
            scopes[rank][name] = values[rank]
    result = Resolved(problem, size, grid, world, dims, frozenset(varying), scopes)
    _check_require(result)
    return result


def _first_scope(grid: Grid, world: int, rank: int) -> dict[str, int]:
    scope = {"P": world, "rank": rank}
    coordinates = grid.coordinates(rank)
    for axis, extent in zip(grid.axes, grid.shape, strict=True):
        scope[axis] = extent
        scope[f"{axis}_rank"] = coordinates[axis]
    return scope


def _check_drawn(name: str, values: list[int], maxima: list[int]) -> None:
    for rank, (value, maximum) in enumerate(zip(values, maxima, strict=True)):
        if not 0 <= value <= maximum:
            raise ProblemError(
                f"the drawn dim '{name}' is {value} on rank {rank}, outside 0 to {maximum}"
            )


def _check_require(resolved: Resolved) -> None:
    for condition in resolved.problem.require:
        if not all(resolved.evaluate(condition, rank) for rank in range(resolved.world)):
            shape = f", grid {resolved.grid}" if str(resolved.grid) else ""
            raise ProblemError(
                f"{resolved.problem.name}, size {resolved.size.name}{shape}: P = {resolved.world} "
                f"breaks the condition '{condition}'"
            )


def pick_sizes(problem: Problem, asked: str) -> list[Size]:
    """Sizes named by name or class, in the file's order; `all` is all."""
    words = [word.strip() for word in asked.split(",") if word.strip()]
    if words == ["all"]:
        return list(problem.sizes)
    for word in words:
        if word not in CLASSES:
            problem.size(word)
    picked = [size for size in problem.sizes if size.name in words or size.size_class in words]
    if not picked:
        raise ProblemError(f"{problem.name} has no size of '{asked}'")
    return picked


def resolve_all(problem: Problem, size: Size, world: int, shape: str = "") -> list[Resolved]:
    """A size on every grid shape that `require` allows, or on the one asked for."""
    found, refused = [], None
    for grid in grids(problem.axes, world):
        if shape and str(grid) != shape:
            continue
        try:
            found.append(resolve_size(problem, size, world, grid))
        except ProblemError as error:
            refused = refused or error
    if not found:
        raise refused or ProblemError(
            f"{problem.name} has no grid '{shape}' at P = {world}; {_known_grids(problem, world)}"
        )
    return found


def _known_grids(problem: Problem, world: int) -> str:
    names = [str(grid) for grid in grids(problem.axes, world)]
    if names == [""]:
        return "its ranks form one row, so leave --grid out"
    return f"it has {', '.join(names)}"


def _resolve_sizes(problem: Problem, sizes: str, world: int, shape: str) -> list[Resolved]:
    """All sizes asked for. Where one breaks a condition, the sentence says which ones would do."""
    picked = pick_sizes(problem, sizes)
    try:
        return [r for size in picked for r in resolve_all(problem, size, world, shape)]
    except ProblemError as error:
        working = [size.name for size in problem.sizes if _works(problem, size, world, shape)]
        if not working:
            raise
        advice = f"at P = {world} these work: --sizes {','.join(working)}"
        raise ProblemError(f"{error}; {advice}") from None


def _works(problem: Problem, size: Size, world: int, shape: str) -> bool:
    try:
        return bool(resolve_all(problem, size, world, shape))
    except ProblemError:
        return False


def plan(problem: Problem, world: int, sizes: str, grid: str = "", device: str = "cpu") -> dict:
    """The plan of docs/protocol.md section 1, as a JSON object."""
    if not 1 <= world <= MAX_RANKS:
        raise ProblemError(f"a world has 1 to {MAX_RANKS} ranks, not {world}")
    resolved = _resolve_sizes(problem, sizes, world, grid)
    return {
        "plan": 1,
        "problem": problem.name,
        "file": str(problem.path),
        "world": world,
        "deterministic": problem.deterministic,
        "sizes": [_size_plan(entry, device) for entry in resolved],
    }


def _size_plan(resolved: Resolved, device: str) -> dict:
    grid, problem = resolved.grid, resolved.problem
    axes = zip(grid.axes, grid.shape, strict=True)
    return {
        "size": resolved.size.name,
        "class": resolved.size.size_class,
        "grid": str(grid),
        "axes": [{"name": axis, "size": extent} for axis, extent in axes],
        "dims": [
            {"name": name, "values": values, "drawn": name in resolved.varying}
            for name, values in resolved.dims.items()
        ],
        "arguments": [_argument_plan(resolved, a, device) for a in problem.arguments],
        "families": list(problem.families),
        "cost": _cost_plan(resolved),
    }


def _argument_plan(resolved: Resolved, argument: Argument, device: str) -> dict:
    ranks = range(resolved.world)
    entry = {
        "name": argument.name,
        "role": argument.role,
        "dtype": argument.dtype,
        "shape": [resolved.shape(argument, rank) for rank in ranks],
        "present": [resolved.present(argument, rank) for rank in ranks],
        "count": argument.count,
        "copies_out": argument.copies_out,
    }
    if argument.role == "host":
        entry["drawn"] = argument.drawn
    if argument.is_output:
        entry["check"] = argument.check
        entry["tolerance"] = resolved.problem.tolerance_of(argument.name, device)
    return entry


def _cost_plan(resolved: Resolved) -> dict:
    by_rank = {
        name: [resolved.evaluate(resolved.problem.cost[name], r) for r in range(resolved.world)]
        for name in COSTS
    }
    return {**{name: max(values) for name, values in by_rank.items()}, "by_rank": by_rank}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.runner.resolve", description=__doc__)
    parser.add_argument("problem", help="number, name or file of a problem")
    parser.add_argument("-n", "--world", type=int, required=True, help="number of ranks P")
    parser.add_argument("--sizes", default="all", help="names or classes, by commas, or 'all'")
    parser.add_argument("--grid", default="", help="one grid shape, such as cp1xtp2")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    options = parser.parse_args(argv)
    try:
        problem = load(find(options.problem))
        result = plan(problem, options.world, options.sizes, options.grid, options.device)
    except (ProblemError, expr.ExprError) as error:
        print(error, file=sys.stderr)
        return 2
    json.dump(result, sys.stdout)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
