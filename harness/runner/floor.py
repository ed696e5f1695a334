# SPDX-License-Identifier: Apache-2.0
"""The least time that problems take on a machine: `python -m harness.runner.floor CEILINGS -n P
PROBLEM...`.

Prints {"problem": {"size" or "size grid": microseconds}}: the most that any rank has to do of what
the problem's cost model counts, each part at the machine's ceiling and all parts at once. Costs
that follow from data have no floor before the data is known: their sizes are left out. Needs no
torch.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from harness.runner import expr
from harness.runner.problem import Problem, ProblemError, find, load
from harness.runner.resolve import COSTS, Resolved, resolve_all

BYTES = {"hbm_bytes": "hbm_bytes_per_s", "sent_bytes": "sent_bytes_per_s"}


@dataclass(frozen=True)
class Ceilings:
    """What one GPU can do in a second; `flop_per_s` by dtype."""

    flop_per_s: dict[str, float]
    bytes_per_s: dict[str, float]  # by cost

    def flop_of(self, problem: Problem) -> float:
        """The largest of its arguments' dtypes, or of all where none of them is known."""
        dtypes = {argument.dtype for argument in problem.arguments}
        known = [value for dtype, value in self.flop_per_s.items() if dtype in dtypes]
        return max(known or self.flop_per_s.values())


def read_ceilings(path: Path) -> Ceilings:
    """ProblemError says what the file lacks."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        flop = {str(dtype): float(value) for dtype, value in raw["flop_per_s"].items()}
        by_cost = {cost: float(raw[key]) for cost, key in BYTES.items()}
    except OSError as error:
        raise ProblemError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ProblemError(
            f"{path} does not hold ceilings: flop_per_s (an object, by dtype), hbm_bytes_per_s and "
            "sent_bytes_per_s are numbers of one GPU (docs/report.md)"
        ) from None
    if not flop or not all(0 < value < 1e30 for value in [*flop.values(), *by_cost.values()]):
        raise ProblemError(f"{path} holds a ceiling that is no positive number")
    return Ceilings(flop, by_cost)


def floor_us(resolved: Resolved, ceilings: Ceilings) -> float | None:
    """None: the costs depend on data."""
    problem = resolved.problem
    if any(expr.names(problem.cost[name]) & resolved.varying for name in COSTS):
        return None
    per_s = {"flop": ceilings.flop_of(problem), **ceilings.bytes_per_s}
    seconds = [
        resolved.evaluate(problem.cost[name], rank) / per_s[name]
        for name in COSTS
        for rank in range(resolved.world)
    ]
    return 1e6 * max(seconds)


def floors(problem: Problem, world: int, ceilings: Ceilings) -> dict[str, float]:
    """By size and grid; without sizes that this world cannot hold or whose costs are data."""
    found = {}
    for size in problem.sizes:
        try:
            everywhere = resolve_all(problem, size, world)
        except ProblemError:
            continue
        for resolved in everywhere:
            value = floor_us(resolved, ceilings)
            if value:
                found[f"{size.name} {resolved.grid}".strip()] = value
    return found


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.runner.floor", description=__doc__)
    parser.add_argument("ceilings", type=Path)
    parser.add_argument("-n", "--world", type=int, required=True, help="number of ranks P")
    parser.add_argument("problem", nargs="+", help="number, name or file of a problem")
    options = parser.parse_args(argv)
    try:
        ceilings = read_ceilings(options.ceilings)
        problems = [load(find(name)) for name in options.problem]
        result = {one.name: floors(one, options.world, ceilings) for one in problems}
    except (ProblemError, expr.ExprError) as error:
        print(error, file=sys.stderr)
        return 2
    json.dump(result, sys.stdout)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
