# SPDX-License-Identifier: Apache-2.0
"""Tolerances from both sides: honest kernels that round elsewhere pass, small cheats fail."""

import pytest
import torch

from harness.runner.case import Case, Draw
from harness.runner.problem import find, load
from tests.python.calibrate import measure
from tests.python.metrics import bound, errors, is_right
from tests.python.world import Rank, evaluate, make_case

WORLD = 4


def partial_sums(draws: list[Draw]) -> list[torch.Tensor]:
    """What each rank contributes, in float32."""
    if "x" in draws[0]:
        return [draw["x"].float() for draw in draws]
    return [draw["A"].float() @ draw["B"].float() for draw in draws]


def in_float32(parts: list[torch.Tensor]) -> torch.Tensor:
    return sum(parts).bfloat16()


def in_a_chain(parts: list[torch.Tensor]) -> torch.Tensor:
    """From the last rank to the first, rounded after each."""
    total = parts[-1].bfloat16()
    for part in reversed(parts[:-1]):
        total = total + part.bfloat16()
    return total


def in_a_tree(parts: list[torch.Tensor]) -> torch.Tensor:
    parts = [part.bfloat16() for part in parts]
    while len(parts) > 1:
        parts = [one + two for one, two in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


HONEST = (in_float32, in_a_chain, in_a_tree)


def rejected(me: Rank, problem, size: str, secrets: int) -> list[str]:
    """On one rank: honest variants that a judge would call wrong."""
    found = []
    for family in problem.families:
        for secret in range(secrets):
            case_of = (problem, size, WORLD, f"honest {secret}")
            outputs, expected = evaluate(me, case_of, 0, family)
            case: Case = make_case(*case_of)
            seed = case.seed(0, family)
            parts = partial_sums([case.draw(q, seed) for q in range(WORLD)])
            for name, output in outputs.items():
                check = problem.argument(name).check_in(family)
                own = errors(output, expected[name])
                allowed = bound(problem.tolerance_of(name, "cpu"), own)
                for variant in HONEST:
                    if not is_right(variant(parts), expected[name], check, allowed):
                        found.append(f"{family}, {secret}: {name} {variant.__name__}")
    return found


@pytest.mark.parametrize("size", ["tiny", "tiny_row"])
@pytest.mark.parametrize("number", ["1", "13"])
def test_honest_variants_pass(worlds, number, size):
    found = worlds(WORLD).run(rejected, load(find(number)), size, 10)
    assert found == [[]] * WORLD


@pytest.mark.parametrize("number", ["1", "13"])
def test_cheats_fail_at_the_published_size(worlds, number):
    problem = load(find(number))
    case_of = (problem, "pkb", WORLD, "cheats")
    for by_output in worlds(WORLD).run(measure, case_of, 0, "nominal"):
        for name, found in by_output.items():
            allowed = bound(problem.tolerance_of(name, "cpu"), found["reference"])
            assert found["rounded"].within(allowed)
            assert found["tile"].block > allowed.block
            assert found["tile"].max > allowed.max
            assert found["element"].max > allowed.max
