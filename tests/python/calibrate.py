# SPDX-License-Identifier: Apache-2.0
"""Measures what tolerances are set from: `python -m tests.python.calibrate PROBLEM [--size pkb]`.

From one side the error of the reference and of an oracle that was rounded once (the best an honest
kernel can do); from the other the two cheapest cheats: a rank's contribution left out in one tile,
or in one element of ordinary size.
"""

import argparse
import json

import torch

from harness.runner.case import Case
from harness.runner.memory import TORCH_DTYPES
from harness.runner.problem import METRICS, find, load
from tests.python.metrics import NO_ERROR, Errors, errors
from tests.python.world import Rank, World, blank, evaluate, make_case

TILE = 16
SECRET = "calibration"


def measure(me: Rank, case_of: tuple, trial: int, family: str) -> dict[str, dict[str, Errors]]:
    """On one rank: errors by float output, of `reference`, `rounded`, `tile` and `element`."""
    outputs, expected = evaluate(me, case_of, trial, family)
    case = make_case(*case_of)
    without = _without(case, trial, family, me.rank, skipped=(me.rank + 1) % me.world)
    result = {}
    for name, output in outputs.items():
        argument = case.problem.argument(name)
        if argument.check_in(family) != "float":
            continue
        oracle = expected[name]
        rounded = oracle.to(TORCH_DTYPES[argument.dtype])
        result[name] = {
            "reference": errors(output, oracle),
            "rounded": errors(rounded, oracle),
            "tile": errors(_cheat_tile(rounded, without[name]), oracle),
            "element": errors(_cheat_element(rounded, without[name], oracle), oracle),
        }
    return result


def _without(case: Case, trial: int, family: str, rank: int, skipped: int) -> dict:
    """The oracle as if rank `skipped` had only zeros."""
    seed = case.seed(trial, family)
    inputs = [case.draw(q, seed) for q in range(case.resolved.world)]
    inputs[skipped] = blank(inputs[skipped])
    resolved = case.resolve(seed)
    return case.run_oracle(case.context(resolved, rank, seed), resolved, inputs)


def _cheat_tile(rounded: torch.Tensor, without: torch.Tensor) -> torch.Tensor:
    cheat = rounded.clone()
    corner = tuple(slice(0, TILE) for _ in range(cheat.dim()))
    cheat[corner] = without[corner].to(cheat.dtype)
    return cheat


def _cheat_element(rounded: torch.Tensor, without: torch.Tensor, oracle: torch.Tensor):
    """Leaves the contribution out where it has its median size."""
    cheat = rounded.clone()
    contribution = (oracle - without).abs().flatten()
    at = contribution.argsort()[contribution.numel() // 2]
    cheat.view(-1)[at] = without.flatten()[at].to(cheat.dtype)
    return cheat


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problem")
    parser.add_argument("--size", default="pkb")
    parser.add_argument("--worlds", default="2,4,8")
    parser.add_argument("--families", default="nominal")
    parser.add_argument("--trials", type=int, default=2)
    options = parser.parse_args()
    problem = load(find(options.problem))
    for world in map(int, options.worlds.split(",")):
        with World(world) as ranks:
            for family in options.families.split(","):
                case_of = (problem, options.size, world, SECRET)
                runs = [
                    result
                    for trial in range(options.trials)
                    for result in ranks.run(measure, case_of, trial, family)
                ]
                for name in runs[0]:
                    for kind in runs[0][name]:
                        _show(world, family, name, kind, [run[name][kind] for run in runs])


def _show(world: int, family: str, name: str, kind: str, found: list[Errors]) -> None:
    """The largest error of honest variants, the smallest of cheats."""
    worst = found[0] if kind in ("tile", "element") else NO_ERROR
    for one in found:
        if kind in ("tile", "element"):
            worst = Errors(*(min(a, b) for a, b in zip(_three(worst), _three(one), strict=True)))
        else:
            worst = worst.worst(one)
    numbers = {metric: float(f"{getattr(worst, metric):.3g}") for metric in METRICS}
    print(f"P={world} {family} {name} {kind:9}", json.dumps(numbers), flush=True)


def _three(one: Errors) -> tuple[float, float, float]:
    return one.norm, one.block, one.max


if __name__ == "__main__":
    main()
