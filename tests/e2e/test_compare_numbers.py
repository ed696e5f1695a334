# SPDX-License-Identifier: Apache-2.0
"""Every number of `pkbench compare` against another computation of it."""

import itertools
import math
import random

import numpy as np
import pytest

from tests.e2e.command import pkbench
from tests.e2e.records import problem_name, record, write
from tests.e2e.recount import (
    KS,
    NAMES,
    PS,
    best,
    is_correct,
    is_faster,
    is_judged,
    made_up,
    over_problems,
    speedup_of,
)

INCOMPLETE = 6


def mean_log(attempts: list[dict]) -> float | None:
    logs = [math.log(speedup_of(one)) for one in attempts if speedup_of(one) is not None]
    return sum(logs) / len(logs) if logs else None


def log_best(attempts: list[dict], k: int) -> float | None:
    value = best([attempts], k)
    return None if value is None else math.log(value)


def numbers(attempts: list[dict]) -> dict[tuple, float | None]:
    """Of one problem, by their place in the answer; ratios as logarithms."""
    found: dict[tuple, float | None] = {("speedup",): mean_log(attempts)}
    for k in KS:
        found["pass", str(k)] = over_problems([attempts], is_correct, k)[0]
        found["best", str(k)] = log_best(attempts, k)
        for p in PS:
            found["fast", f"{p:g}", str(k)] = over_problems([attempts], is_faster(p), k)[0]
    return found


def is_ratio(place: tuple) -> bool:
    return place[0] in ("speedup", "best")


def p_value(changes: list[float]) -> float:
    """All ways to toss which run is called A."""
    size = abs(sum(changes)) - 1e-9
    tosses = itertools.product((1, -1), repeat=len(changes))
    sums = [abs(sum(s * c for s, c in zip(signs, changes, strict=True))) for signs in tosses]
    return sum(one >= size for one in sums) / len(sums)


def compare(first, second, status: int = 0) -> dict:
    answer = pkbench("compare", "--json", first, second)
    assert answer.status == status, answer.err
    return answer.record


@pytest.mark.parametrize("seed", range(3))
def test_every_number_is_counted_out(tmp_path, seed):
    runs = [made_up(seed), made_up(seed + 10)]
    paths = [write(tmp_path / f"{name}.jsonl", run) for name, run in zip("ab", runs, strict=True)]
    answer = compare(*paths, status=INCOMPLETE)
    by_problem = [
        {name: numbers([one for one in run if one["problem"] == name]) for name in NAMES}
        for run in runs
    ]
    for place in by_problem[0][NAMES[0]]:
        pairs = [(by_problem[0][name][place], by_problem[1][name][place]) for name in NAMES]
        pairs = [(a, b) for a, b in pairs if a is not None and b is not None]
        row = answer
        for key in place:
            row = row.get(key, {})
        if not pairs:
            assert row == {}, place
            continue
        of = math.exp if is_ratio(place) else float
        a, b = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
        change = row["ratio" if is_ratio(place) else "difference"]
        assert row["problems"] == len(pairs)
        assert row["a"] == pytest.approx(of(a), abs=1e-12), place
        assert row["b"] == pytest.approx(of(b), abs=1e-12), place
        assert change["value"] == pytest.approx(of(b - a), abs=1e-12), place
        assert row["p"] == pytest.approx(p_value([b - a for a, b in pairs])), place
        assert ("low" in change) == (len(pairs) > 1)


@pytest.mark.parametrize("seed", range(2))
def test_flips_and_pairs_are_counted_out(tmp_path, seed):
    runs = [made_up(seed), [one for one in made_up(seed + 10) if one["problem"] != NAMES[0]]]
    paths = [write(tmp_path / f"{name}.jsonl", run) for name, run in zip("ab", runs, strict=True)]
    answer = compare(*paths, status=INCOMPLETE)
    judged = [{o["problem"] for o in run if is_judged(o)} for run in runs]
    both = judged[0] & judged[1]
    assert answer["paired"] == len(both)
    assert answer["only_a"] == len(judged[0] - judged[1])
    assert answer["only_b"] == len(judged[1] - judged[0])
    for word, is_good in (("solved", is_correct), ("faster", is_faster(1))):
        good = [{o["problem"] for o in run if is_good(o)} & both for run in runs]
        assert answer[f"{word}_only_by_a"] == sorted(good[0] - good[1])
        assert answer[f"{word}_only_by_b"] == sorted(good[1] - good[0])


def test_intervals_are_those_of_other_draws_of_pairs(tmp_path):
    """The same percentiles from another generator of random numbers, but for its luck."""
    drawn = random.Random(8)
    runs = [
        [
            record(
                problem_name(n),
                k,
                "CORRECT" if drawn.random() < (n % 5 + bonus) / 6 else "CRASH",
                speedup=drawn.choice([0.8, 1.4, 2.0 + bonus]),
                run=name,
            )
            for n in range(1, 41)
            for k in range(3)
        ]
        for name, bonus in (("a", 0), ("b", 1))
    ]
    answer = compare(*(write(tmp_path / f"{run[0]['run']}.jsonl", run) for run in runs))
    problems = [[run[3 * i : 3 * i + 3] for i in range(40)] for run in runs]
    draws = np.random.default_rng(1).integers(0, 40, (10000, 40))
    for place, row in (
        (("pass", "1"), answer["pass"]["1"]),
        (("fast", "1.25", "1"), answer["fast"]["1.25"]["1"]),
        (("best", "3"), answer["best"]["3"]),
        (("speedup",), answer["speedup"]),
    ):
        a, b = ([numbers(one)[place] for one in of] for of in problems)
        pairs = [(x, y) for x, y in zip(a, b, strict=True)]
        there = np.array([x is not None and y is not None for x, y in pairs])
        change = np.array([y - x if ok else 0.0 for (x, y), ok in zip(pairs, there, strict=True)])
        means = change[draws].sum(axis=1) / there[draws].sum(axis=1)
        low, high = np.percentile(means, [2.5, 97.5])
        of = np.exp if is_ratio(place) else float
        found = row["ratio" if is_ratio(place) else "difference"]
        assert found["low"] == pytest.approx(of(low), abs=0.012), place
        assert found["high"] == pytest.approx(of(high), abs=0.012), place
        assert found["high"] - found["low"] > 0.05
        # So large a difference comes up by tossing coins, too.
        signs = np.random.default_rng(2).choice([-1, 1], (10000, 40))
        share = np.mean(np.abs(signs @ change) >= abs(change.sum()) - 1e-9)
        assert row["p"] == pytest.approx(share, abs=0.012), place
