# SPDX-License-Identifier: Apache-2.0
"""What a reference file may draw and return; whether its inputs are good ones is for the audit."""

import pytest
import torch

from harness.runner.audit.scene import Place, same_bits
from harness.runner.case import Case, Draw
from harness.runner.problem import ProblemError, find, load


def drawn(case: Case, rank: int, trial: int = 0, family: str = "nominal") -> Draw:
    return case.draw(rank, case.seed(trial, family))


def expect(case: Case, inputs: list[Draw], rank: int) -> dict[str, torch.Tensor]:
    seed = case.seed(0, "nominal")
    resolved = case.resolve(seed)
    return case.run_oracle(case.context(resolved, rank, seed), resolved, inputs)


def test_shared_generators(everything):
    """Ranks of one coordinate share; the others, and other trials, do not."""
    case = Place(everything, "tiny", 4, "cp2xtp2").case("secret")
    w = [drawn(case, rank)["w"] for rank in range(4)]
    assert same_bits(w[0], w[1])
    assert same_bits(w[2], w[3])
    assert not same_bits(w[0], w[2])
    assert not same_bits(w[0], drawn(case, 0, trial=1)["w"])


def test_dims_of_other_ranks_leave_out_what_is_data(everything):
    case = Place(everything, "tiny", 4, "cp2xtp2").case("secret")
    context = case.context(case.resolved, 0, case.seed(0, "nominal"))
    assert vars(context.dims_of(3)) == {"cap": 9, "N": 5, "lists": 36}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": None}, "did not return 'A' on rank 1"),
        ({"Z": torch.zeros(1)}, "returned 'Z', which is no input"),
        ({"A": torch.zeros(37, 23)}, r"'A' as torch.float32 \[37, 23\]; .* bf16 \[37, 23\]"),
        ({"A": torch.zeros(23, 37).bfloat16()}, r"\[23, 37\]; .* bf16 \[37, 23\]"),
    ],
)
def test_wrong_make_inputs_is_named(change, message):
    case = Place(load(find("13")), "tiny", 2).case("secret")
    honest = case.module.make_inputs

    def wrong(ctx):
        mixed = {**honest(ctx), **change}
        return {name: value for name, value in mixed.items() if value is not None}

    case.module.make_inputs = wrong
    with pytest.raises(ProblemError, match=message):
        drawn(case, 1)


def test_oracle_must_be_exact_and_complete():
    case = Place(load(find("1")), "tiny", 2).case("secret")
    inputs = [drawn(case, rank) for rank in range(2)]
    for result, message in (
        ({"y": torch.zeros(37, 29)}, "has to be torch.float64"),
        ({"y": torch.zeros(29, 37).double()}, r"shape \[29, 37\], not \[37, 29\]"),
        ({}, "did not return 'y'"),
        ({"y": torch.zeros(37, 29).double(), "z": 1}, "returned 'z'"),
    ):
        case.module.oracle = lambda ctx, inputs, result=result: result
        with pytest.raises(ProblemError, match=message):
            expect(case, inputs, 0)


def test_make_inputs_cannot_communicate():
    case = Place(load(find("1")), "tiny", 2).case("secret")
    case.module.make_inputs = lambda ctx: {"x": ctx.group()}
    with pytest.raises(ProblemError, match="must not communicate"):
        drawn(case, 0)
