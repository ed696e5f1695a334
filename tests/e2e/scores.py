# SPDX-License-Identifier: Apache-2.0
"""Calls of `pkbench score` and made-up attempts for it."""

from tests.e2e.command import pkbench
from tests.e2e.records import record

INCOMPLETE = 6


def score(*arguments, status: int = 0) -> dict:
    answer = pkbench("score", "--json", *arguments)
    assert answer.status == status, answer.err
    return answer.record


def refusal(*arguments) -> str:
    answer = pkbench("score", *arguments)
    assert answer.status == 2, (answer.out, answer.err)
    assert answer.out == ""
    return answer.err


def attempts(problem: str, verdicts: str, **options) -> list[dict]:
    """One attempt a letter: c correct, w wrong, i pending, u unsupported."""
    names = {"c": "CORRECT", "w": "WRONG_OUTPUT", "i": "INFRA_ERROR", "u": "UNSUPPORTED"}
    return [
        record(problem, number, names[letter], speedup=2.0, **options)
        for number, letter in enumerate(verdicts)
    ]
