# SPDX-License-Identifier: Apache-2.0
"""Chooses bounds between honest programs and cheats.

A judge allows the larger of a bound and four times the reference's own error. What an honest
program needs is its error, outside nominal inputs only where the latter does not cover it. The
bound is a margin times the largest need, rounded up to two digits: 64, 8 or 4 where every cheat
exceeds what is allowed by as much with nominal inputs on every rank; else twice, or less where only
that keeps the cheats out: each must exceed what is allowed by SEPARATION in one metric at least, on
each rank, in some family and draw. A cheat in one element may be too small to be seen: that is
told.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch

from harness.runner.audit.measure import CHEATS, HONEST, OTHERS, Sample
from harness.runner.compare import NO_ERROR, REFERENCE_FACTOR, Errors
from harness.runner.memory import TORCH_DTYPES
from harness.runner.problem import METRICS

AMPLE_MARGINS = (64.0, 8.0, 4.0)
MARGINS = (2.0, 1.5, 1.25, 1.1)
MAY_PASS = "one_rank_missing_in_an_element"
SEPARATION = 1.1
FLOAT64_FLOOR = 1e-12


@dataclass(frozen=True)
class Choice:
    """The bounds of one output, and why there are none that would do."""

    output: str
    bound: Errors
    refusals: list[str]
    notes: list[str]  # cheats that are too small to be seen
    largest: dict[str, Errors]  # nominal, by kind of honest program
    smallest: dict[str, Errors]  # nominal, by cheat and by what is only informative
    seen_by: dict[str, float]  # by cheat: how many times over what is allowed, where it is least


def choose(output: str, dtype: str, samples: list[Sample]) -> Choice:
    nominal = [sample.errors for sample in samples if sample.family == "nominal"]
    kinds = {kind for found in nominal for kind in found}
    largest = {k: _over(nominal, k, Errors.worst) for k in HONEST if k in kinds}
    smallest = {k: _over(nominal, k, Errors.least) for k in (*CHEATS, *OTHERS) if k in kinds}
    bound = _choose_bound(samples, dtype)
    needed = [cheat for cheat in CHEATS if cheat != MAY_PASS]
    refusals = [*_turned_away(samples, bound), *_unseen(samples, bound, needed)]
    notes = [*_unseen(samples, bound, [MAY_PASS])]
    seen = {cheat: _least_seen(samples, bound, cheat) for cheat in CHEATS}
    seen |= {kind: _least_seen(_in_all_families(samples), bound, kind) for kind in OTHERS}
    found = {cheat: value for cheat, value in seen.items() if value is not None}
    return Choice(output, bound, refusals, notes, largest, smallest, found)


def _choose_bound(samples: list[Sample], dtype: str) -> Errors:
    need = NO_ERROR
    for sample in samples:
        need = need.worst(_need(sample))
    nominal = [sample for sample in samples if sample.family == "nominal"]
    for margin in AMPLE_MARGINS:
        bound = _bound(need, dtype, margin)
        if not any(_unseen(nominal, bound, CHEATS, margin)):
            return bound
    for cheats in (CHEATS, [cheat for cheat in CHEATS if cheat != MAY_PASS]):
        for margin in MARGINS:
            bound = _bound(need, dtype, margin)
            if not any(_unseen(samples, bound, cheats)):
                return bound
    return bound


def _need(sample: Sample) -> Errors:
    """What honest programs need of the bound in one draw."""
    need = NO_ERROR
    for kind in HONEST:
        if kind in sample.errors:
            need = need.worst(sample.errors[kind])
    if sample.family == "nominal":
        return need
    covered = sample.errors["reference"].times(REFERENCE_FACTOR)
    uncovered = (
        value if math.isfinite(value) and value > getattr(covered, metric) else 0.0
        for metric, value in ((metric, getattr(need, metric)) for metric in METRICS)
    )
    return Errors(*uncovered)


def _over(found: list[dict[str, Errors]], kind: str, join) -> Errors:
    values = [errors[kind] for errors in found if kind in errors]
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result


def _bound(honest: Errors, dtype: str, margin: float) -> Errors:
    # Half an ulp is what a program needs that only moves data. An oracle in float64 is no more
    # exact than an output in float64, and other orders of summing are honest.
    floor = FLOAT64_FLOOR if dtype == "f64" else torch.finfo(TORCH_DTYPES[dtype]).eps / 2
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


def _unseen(
    samples: list[Sample], bound: Errors, cheats: Iterable[str], least: float = SEPARATION
) -> Iterator[str]:
    for cheat in cheats:
        by_place = _seen_by_place(samples, bound, cheat)
        for (size, world, rank), seen in by_place.items():
            if seen < least:
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


def _in_all_families(samples: list[Sample]) -> list[Sample]:
    """Those of places where all families were measured: another may show what nominal inputs do
    not."""
    families = {sample.family for sample in samples}
    by_place: dict[tuple, set[str]] = {}
    for sample in samples:
        by_place.setdefault((sample.size, sample.world), set()).add(sample.family)
    return [s for s in samples if by_place[(s.size, s.world)] == families]


def _least_seen(samples: list[Sample], bound: Errors, cheat: str) -> float | None:
    return min(_seen_by_place(samples, bound, cheat).values(), default=None)
