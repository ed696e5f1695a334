# SPDX-License-Identifier: Apache-2.0
"""The numbers of docs/scores.md, counted out: over all subsets of the attempts, in exact fractions.
And made-up runs that come to all the places where numbers could go astray."""

import math
import random
from fractions import Fraction
from itertools import combinations

from tests.e2e.records import record, size_of

KS = (1, 3, 5, 10)
PS = (1, 1.25, 1.5, 2, 4)
SAMPLES = 12
NAMES = ["001_allreduce", "002_allgather", "008_alltoall", "013_gemm_allreduce", "999_made_up"]
SIZES = ["tiny", "pkb", "large"]
# Speed-ups that lie on a p, beside it, and beyond it; whose intervals hold a p and do not.
SPEEDUPS = [(0.5, 0.4, 0.6), (1.0, 0.9, 1.1), (1.2, 1.1, 1.3), (1.5, 1.5, 1.5), (2.0, 1.9, 2.1)]
SPEEDUPS += [(3.0, 2.9, 3.1), (6.0, 5.0, 7.0), None]
VERDICTS = ["CORRECT"] * 4 + ["WRONG_OUTPUT", "CRASH", "INFRA_ERROR", "UNSUPPORTED"]


def attempt(random_numbers: random.Random, name: str, number: int) -> dict:
    verdict = random_numbers.choice(VERDICTS)
    speedup = random_numbers.choice(SPEEDUPS)
    if verdict == "CORRECT":
        sizes = [size_of(size, "CORRECT", speedup) for size in SIZES]
    else:
        reached = random_numbers.randrange(4)  # the last of those reached is where it failed
        sizes = [size_of(size, "CORRECT", speedup) for size in SIZES[: max(0, reached - 1)]]
        sizes += [size_of(SIZES[reached - 1], verdict)] if reached else []
    source = f"{name} {random_numbers.randrange(4 * number + 1)}"
    return record(name, number, verdict, sizes=sizes, source=source)


def made_up(seed: int) -> list[dict]:
    """A run with 1 to 12 attempts at each problem, all of one number of problems."""
    numbers = random.Random(seed)
    return [
        attempt(numbers, name, number)
        for name in NAMES
        for number in range(numbers.choice([1, 4, 11, SAMPLES]))
    ]


# ---- the other computation ----


def speedup_of(one: dict, end: str = "value") -> float | None:
    scored = [size for size in one["sizes"] if size["class"] in ("pkb", "large")]
    if one["verdict"] != "CORRECT" or any("speedup" not in size for size in scored):
        return None
    logs = [math.log(size["speedup"]["eager"][end]) for size in scored]
    return math.exp(sum(logs) / len(logs))


def is_judged(one: dict) -> bool:
    return one["verdict"] not in ("INFRA_ERROR", "UNSUPPORTED")


def is_correct(one: dict) -> bool:
    return one["verdict"] == "CORRECT"


def is_faster(p: float, end: str = "value"):
    def is_good(one: dict) -> bool:
        speedup = speedup_of(one, end)
        return speedup is not None and speedup > p * (1 + 1e-12)  # exactly p is not enough

    return is_good


def share_of_subsets(marks: list[bool], k: int) -> Fraction | None:
    """How many of the ways to take k attempts hold a good one."""
    if len(marks) < k:
        return None
    found = [any(subset) for subset in combinations(marks, k)]
    return Fraction(sum(found), len(found))


def mean(values: list) -> tuple[float | None, int]:
    there = [value for value in values if value is not None]
    return (float(sum(there) / len(there)) if there else None), len(there)


def over_problems(problems: list[list[dict]], is_good, k: int) -> tuple[float | None, int]:
    return mean(
        [share_of_subsets([is_good(one) for one in p if is_judged(one)], k) for p in problems]
    )


def bound(problems: list[list[dict]], is_good, k: int, planned: int, rest: bool) -> float | None:
    """What has no verdict, or no record, taken as failed or as passed."""
    shares = []
    for attempts in problems:
        marks = [is_good(one) for one in attempts if is_judged(one)]
        shares.append(share_of_subsets(marks + [rest] * (planned - len(marks)), k))
    return mean(shares)[0]


def best(problems: list[list[dict]], k: int) -> float | None:
    """The reference stands in for what is wrong or slower."""
    logs = []
    for attempts in problems:
        gains = [max(0.0, math.log(speedup_of(one) or 1)) for one in attempts if is_judged(one)]
        if len(gains) >= k:
            subsets = [max(subset) for subset in combinations(gains, k)]
            logs.append(sum(subsets) / len(subsets))
    return math.exp(sum(logs) / len(logs)) if logs else None
