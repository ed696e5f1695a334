# SPDX-License-Identifier: Apache-2.0
"""The judge's comparison as Python sees it; its rules are tested in tests/unit/harness."""

import itertools
import math

import pytest
import torch

from harness.runner.compare import Errors, compare, errors
from harness.runner.problem import Argument, ProblemError

WIDE = Errors(0.01, 0.01, 0.1)


def output(dtype: str, check: str) -> Argument:
    return Argument("y", "out", dtype, check={"default": check})


def test_errors_are_those_of_their_definition():
    torch.manual_seed(1)
    oracle = torch.randn(130, 3, dtype=torch.float64)
    answer = (oracle + 0.01 * torch.randn(130, 3, dtype=torch.float64)).float()
    difference, rms = answer.double() - oracle, float(oracle.square().mean().sqrt())
    edges = [130 * block // 64 for block in range(65)]
    blocks = [difference[a:b].square().mean().sqrt() for a, b in itertools.pairwise(edges)]
    found = errors(output("f32", "float"), answer, oracle)
    assert found.norm == pytest.approx(float(difference.norm() / oracle.norm()))
    assert found.block == pytest.approx(float(max(blocks)) / rms)
    assert found.max == pytest.approx(float(difference.abs().max()) / rms)


def test_a_bfloat16_answer_is_judged():
    oracle = torch.randn(40, 3, dtype=torch.float64)
    answer, argument = oracle.bfloat16(), output("bf16", "float")
    assert compare(argument, "nominal", answer, {"y": oracle}, WIDE) is None
    answer[17, 2] += 1
    wrong = compare(argument, "nominal", answer, {"y": oracle}, WIDE)
    assert (wrong.metric, wrong.index, wrong.wrong_count) == ("max", 17 * 3 + 2, 1)
    assert "max error" in str(wrong)
    off = answer.clone()
    assert compare(argument, "nominal", off, {"y": oracle}, WIDE, reference=answer) is None
    off[17, 2] = math.nan
    assert compare(argument, "nominal", off, {"y": oracle}, WIDE).metric == "non-finite"
    assert errors(argument, off, oracle) == Errors(math.inf, math.inf, math.inf)


def test_only_rows_that_are_meant_are_compared():
    oracle = torch.arange(6).view(3, 2)
    answer = torch.cat([oracle, torch.full((2, 2), 99)])
    argument = output("i64", "exact")
    assert compare(argument, "nominal", answer, {"y": oracle}) is None
    answer[2, 0] = 5
    wrong = compare(argument, "nominal", answer, {"y": oracle})
    assert (wrong.metric, wrong.index, wrong.wrong_count) == ("exact", 4, 1)


def test_either_code_of_a_tie_is_right():
    code, other = (torch.tensor([1.0, value]).to(torch.float8_e4m3fn) for value in (2.0, 2.25))
    wrong = torch.tensor([1.0, 2.5]).to(torch.float8_e4m3fn)
    expected = {"y": code, "y_alt": other}
    argument = output("e4m3", "quantized")
    assert compare(argument, "nominal", code, expected) is None
    assert compare(argument, "nominal", other, expected) is None
    assert compare(argument, "nominal", wrong, expected).metric == "code"


def test_what_does_not_fit_is_refused():
    with pytest.raises(ProblemError, match=r"shape \[2\] is compared with \[3\]"):
        compare(output("f32", "float"), "nominal", torch.zeros(2), {"y": torch.zeros(3).double()})
    with pytest.raises(ProblemError, match=r"torch.float64 is compared as torch.float32"):
        errors(output("f32", "float"), torch.zeros(2).double(), torch.zeros(2).double())
    with pytest.raises(ProblemError, match="cannot be compared so"):
        errors(output("i32", "float"), torch.zeros(2).int(), torch.zeros(2).int())
