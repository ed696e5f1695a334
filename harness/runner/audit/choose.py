# SPDX-License-Identifier: Apache-2.0
"""Chooses bounds between honest programs and cheats.

A bound is MARGINS[0] times the largest nominal error of an honest program, rounded up to two
digits, or less where only that keeps the cheats out. A judge allows the larger of it and four times
the reference's own error. That must suffice for every honest program in every family, and every
cheat must exceed it by SEPARATION in at least one metric: on every rank, in some family and draw.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from harness.runner.audit.measure import CHEATS, HONEST, Sample
from harness.runner.compare import NO_ERROR, REFERENCE_FACTOR, Errors
from harness.runner.memory import TORCH_DTYPES
from harness.runner.problem import METRICS

MARGINS = (2.0, 1.5, 1.25, 1.1)
SEPARATION = 1.1


@dataclass(frozen=True)
class Choice:
    """The bounds of one output, and why there are none that would do."""

    output: str
    bound: Errors
    refusals: list[str]
    largest: dict[str, Errors]  # nominal, by kind of honest program
    smallest: dict[str, Errors]  # nominal, by cheat and by what is only informative
    seen_by: dict[str, float]  # by cheat: how many times over what is allowed, where it is least


def choose(output: str, dtype: str, samples: list[Sample]) -> Choice:
    nominal = [sample.errors for sample in samples if sample.family == "nominal"]
    kinds = {kind for found in nominal for kind in found}
    largest = {k: _over(nominal, k, Errors.worst) for k in HONEST if k in kinds}
    smallest = {k: _over(nominal, k, Errors.least) for k in (*CHEATS, "eight_bits") if k in kinds}
    honest = NO_ERROR
    for found in largest.values():
        honest = honest.worst(found)
    for margin in MARGINS:
        bound = _bound(honest, dtype, margin)
        refusals = [*_turned_away(samples, bound), *_unseen(samples, bound)]
        if not refusals:
            break
    seen = {cheat: _least_seen(samples, bound, cheat) for cheat in CHEATS}
    found = {cheat: value for cheat, value in seen.items() if value is not None}
    return Choice(output, bound, refusals, largest, smallest, found)


def _over(found: list[dict[str, Errors]], kind: str, join) -> Errors:
    values = [errors[kind] for errors in found if kind in errors]
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result


def _bound(honest: Errors, dtype: str, margin: float) -> Errors:
    floor = torch.finfo(TORCH_DTYPES[dtype]).eps / 2  # of a program that only moves data
    return Errors(*(_round_up(max(margin * getattr(honest, m), floor)) for m in METRICS))


def _round_up(value: float) -> float:
    """To two significant digits."""
    if not math.isfinite(value) or value <= 0:
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.2g}")


def _allowed(sample: Sample, bound: Errors) -> Errors:
    own = sample.errors["reference"]
    own = Errors(*(v if math.isfinite(v) else 0.0 for v in (own.norm, own.block, own.max)))
    return bound.worst(own.times(REFERENCE_FACTOR))


def _turned_away(samples: list[Sample], bound: Errors) -> Iterator[str]:
    """Honest programs that a judge would not take."""
    told = set()
    for sample in samples:
        allowed = _allowed(sample, bound)
        for kind in HONEST:
            if kind not in sample.errors or (kind, sample.family) in told:
                continue
            ratio = _ratio(sample.errors[kind], allowed, max)
            if ratio > 1:
                told.add((kind, sample.family))
                yield (
                    f"an honest program ({HONEST[kind]}) would be refused in family "
                    f"'{sample.family}', size {sample.size}, P = {sample.world}, rank "
                    f"{sample.rank}: its error is {ratio:.3g} times what is allowed"
                )


def _ratio(errors: Errors, allowed: Errors, pick) -> float:
    return pick(_divided(getattr(errors, m), getattr(allowed, m)) for m in METRICS)


def _divided(error: float, allowed: float) -> float:
    if allowed > 0:
        return error / allowed
    return math.inf if error > 0 else 0.0


def _unseen(samples: list[Sample], bound: Errors) -> Iterator[str]:
    for cheat in CHEATS:
        by_place = _seen_by_place(samples, bound, cheat)
        for (size, world, rank), seen in by_place.items():
            if seen < SEPARATION:
                yield (
                    f"a cheat would pass (a rank's contribution left out: {CHEATS[cheat]}) at size "
                    f"{size}, P = {world}, rank {rank}: in no family is its error more than "
                    f"{seen:.3g} times what is allowed"
                )
                break


def _seen_by_place(samples: list[Sample], bound: Errors, cheat: str) -> dict[tuple, float]:
    """By size, world and rank: how far beyond what is allowed a cheat is, at best."""
    seen: dict[tuple, float] = {}
    for sample in samples:
        if cheat in sample.errors:
            place = (sample.size, sample.world, sample.rank)
            ratio = _ratio(sample.errors[cheat], _allowed(sample, bound), max)
            seen[place] = max(ratio, seen.get(place, 0.0))
    return seen


def _least_seen(samples: list[Sample], bound: Errors, cheat: str) -> float | None:
    return min(_seen_by_place(samples, bound, cheat).values(), default=None)
