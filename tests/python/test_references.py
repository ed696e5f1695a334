# SPDX-License-Identifier: Apache-2.0
"""References and oracles agree, on real worlds over gloo."""

import pytest
import torch

from tests.python.conftest import tiny_cases
from tests.python.metrics import Errors, errors, is_right, same_bits
from tests.python.world import Rank, evaluate

SECRETS = ("one", "two", "three")


def disagreements(me: Rank, problem, size: str, world: int, shape: str = "") -> list[str]:
    """On one rank: where the reference misses the oracle, over all families and three seeds."""
    found = []
    for family in problem.families:
        for trial, secret in enumerate(SECRETS):
            case_of = (problem, size, world, secret, shape)
            outputs, expected = evaluate(me, case_of, trial, family)
            for name, output in outputs.items():
                fault = _fault(problem, name, family, output, expected)
                if fault:
                    found.append(f"{family}, {secret}: {name}: {fault}")
            if problem.deterministic:
                again, _ = evaluate(me, case_of, trial, family)
                found += [f"{n} differs" for n, o in outputs.items() if not same_bits(o, again[n])]
    return found


def _fault(problem, name: str, family: str, output, expected: dict) -> str:
    argument = problem.argument(name)
    check, oracle = argument.check_in(family), expected[name]
    if argument.count:
        rows = int(expected[argument.count])
        output = output[:rows]
    if check != "float":
        return "" if is_right(output, oracle, check) else "is not exact"
    error = errors(output, oracle)
    # Outside nominal inputs a few elements may carry the norm: a judge scales with the reference.
    factor = 1 if family == "nominal" else 4
    bound = Errors(**problem.tolerance_of(name, "cpu")).times(factor)
    return "" if error.within(bound) else f"{error} is beyond {bound}"


@pytest.mark.parametrize(("problem", "size", "world", "shape"), tiny_cases((2, 4, 8)))
def test_reference_agrees_with_oracle(worlds, problem, size, world, shape):
    assert worlds(world).run(disagreements, problem, size, world, shape) == [[]] * world


@pytest.mark.parametrize(("world", "shape"), [(2, "cp1xtp2"), (2, "cp2xtp1"), (4, "cp2xtp2")])
def test_grids_counts_codes_and_absent_arguments(worlds, everything, world, shape):
    assert worlds(world).run(disagreements, everything, "tiny", world, shape) == [[]] * world


def test_a_wrong_reference_is_noticed(everything):
    good = torch.randn(37, 29, dtype=torch.float64)
    wrong = good.bfloat16()
    wrong[36, 28] += 1
    tolerance = Errors(0.005, 0.008, 0.05)
    assert errors(good.bfloat16(), good).within(tolerance)
    assert errors(wrong, good).exceeds(tolerance)
