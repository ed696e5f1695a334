# SPDX-License-Identifier: Apache-2.0
"""Expressions: their values, and that nothing else gets through."""

import time

import pytest

from harness.runner.expr import ExprError, evaluate, names

SCOPE = {"P": 4, "rank": 3, "M": 37, "E": 64}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (5, 5),
        ("M", 37),
        ("M + 2 * P - 1", 44),
        ("-7 // 2", -4),
        ("-7 % 4", 1),
        ("M % P == 1", 1),
        ("1 < rank <= 3 and not M == 0", 1),
        ("M == 0 or rank == 0", 0),
        ("2 and 3", 1),
        ("(rank < 2) * 10 + (rank >= 2) * 20", 20),
        ("min(M, 8, E) + max(P, 2)", 12),
        ("ceil_to(M, 8)", 40),
        ("ceil_to(0, 8)", 0),
        ("E // P", 16),
        ("  P  ", 4),
    ],
)
def test_value(text, value):
    assert evaluate(text, SCOPE) == value
    assert type(evaluate(text, SCOPE)) is int


def test_and_or_stop_early():
    assert evaluate("M == 37 or M // 0", SCOPE) == 1
    assert evaluate("M == 0 and M // 0", SCOPE) == 0


def test_over_ranks():
    by_rank = {"n": [5, 0, 7]}
    assert evaluate("sum_ranks(n) + max_ranks(n)", SCOPE, by_rank.__getitem__) == 19
    with pytest.raises(ExprError, match="sum_ranks is not possible here"):
        evaluate("sum_ranks(n)", SCOPE)


def test_names():
    assert names("min(M, 3) + sum_ranks(n) * P") == {"M", "n", "P"}
    assert names(4) == frozenset()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not an expression"),
        ("M +", "is not an expression"),
        ("M; P", "is not an expression"),
        ("x", "unknown name 'x' in 'x'"),
        ("M // (P - 4)", "division by zero"),
        ("M % 0", "modulo by zero"),
        ("M / 2", "operator Div is not allowed"),
        ("2 ** 99", "operator Pow is not allowed"),
        ("1 << 60", "operator LShift is not allowed"),
        ("~M", "operator Invert is not allowed"),
        ("M in P", "operator In is not allowed"),
        ("1.5", "1.5 is not an integer"),
        ("True", "True is not an integer"),
        ("'a' * 9", "'a' is not an integer"),
        ("M.real", "Attribute is not allowed"),
        ("().__class__", "is not allowed"),
        ("[1][0]", "is not allowed"),
        ("M if P else 2", "IfExp is not allowed"),
        ("(lambda: 1)()", "can be called"),
        ("__import__('os')", "can be called"),
        ("min(*M)", "takes 2 to 8|is not allowed"),
        ("min(M, P, key=3)", "can be called"),
        ("min(M)", "min takes 2 to 8 arguments"),
        ("ceil_to(M, 0)", "positive step"),
        ("sum_ranks(M + 1)", "takes the name of one dim"),
        ("(x := 3)", "is not allowed|is not an expression"),
        ("f'{M}'", "is not allowed"),
        ("4611686018427387905", "beyond 2"),
        ("4611686018427387904 * 2", "beyond 2"),
        ("9" * 5000, "characters"),
        ("(" * 199 + "1" + ")" * 200, "is not an expression"),
        ("not " * 60 + "1", "too long or too deep"),
        ("-" * 300 + "1", "too long or too deep"),
        ("+".join("1" * 150), "too long or too deep"),
        ("M\0", "is not an expression"),
    ],
)
def test_refused(text, message):
    with pytest.raises(ExprError, match=message):
        evaluate(text, SCOPE)


@pytest.mark.parametrize("value", [None, 1.5, True, ["M"], {"M": 1}])
def test_only_numbers_and_texts(value):
    with pytest.raises(ExprError, match="neither an integer nor an expression"):
        evaluate(value, SCOPE)


def test_no_text_takes_long():
    begin = time.monotonic()
    text = "1" + " * 4611686018427387904" * 18
    with pytest.raises(ExprError):
        evaluate(text, SCOPE)
    assert time.monotonic() - begin < 0.5
