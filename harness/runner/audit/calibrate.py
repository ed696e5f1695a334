# SPDX-License-Identifier: Apache-2.0
"""Sets tolerances from both sides: `python -m harness.runner.audit.calibrate [PROBLEM...]`, behind
`pkbench audit --calibrate`. docs/problems.md has the rule.

Status 0 if all outputs have bounds, 1 if honest programs and cheats do not separate, 2 for what was
asked wrongly.
"""

import argparse
import json
import platform
import sys
from dataclasses import asdict
from datetime import UTC, datetime

from harness.runner.audit.choose import Choice, choose
from harness.runner.audit.measure import CHEATS, Sample, measure
from harness.runner.audit.options import (
    FAULTS_FOUND,
    USAGE,
    add_options,
    guarded,
    pick_problems,
    pick_worlds,
    places_asked,
)
from harness.runner.audit.rewrite import tolerance_entry, write_tolerance
from harness.runner.audit.scene import Place
from harness.runner.audit.world import Worlds
from harness.runner.expr import ExprError
from harness.runner.problem import METRICS, Problem, ProblemError
from harness.runner.resolve import MAX_RANKS


def main(argv: list[str]) -> int:
    options = _parse(argv)
    try:
        worlds = pick_worlds(options)
        plan = [
            (problem, [p for p in places_asked(problem, options, worlds) if _fits(p, options)])
            for problem in pick_problems(options.problems)
            if _floats(problem)
        ]
    except (ProblemError, ExprError) as error:
        print(f"pkbench: {error}", file=sys.stderr)
        return USAGE
    running = Worlds(options.device)
    chosen: dict[str, list[Choice]] = {}
    try:
        for problem, places in plan:
            print(f"{problem.name} …", file=sys.stderr, flush=True)
            chosen[problem.name] = _calibrate(problem, places, running, options.seeds)
            _tell(problem, chosen[problem.name], options)
    finally:
        running.close()
    if options.json:
        print(json.dumps({name: [asdict(c) for c in found] for name, found in chosen.items()}))
    refused = any(choice.refusals for found in chosen.values() for choice in found)
    return FAULTS_FOUND if refused else 0


def _parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m harness.runner.audit.calibrate", description=__doc__
    )
    add_options(parser, sizes="tiny,pkb")
    parser.add_argument(
        "--most-ranks",
        type=int,
        default=MAX_RANKS,
        help="sizes that are not tiny only on worlds of so many ranks",
    )
    parser.add_argument("--write", action="store_true", help="store them in the problem files")
    return parser.parse_args(argv)


def _fits(place: Place, options: argparse.Namespace) -> bool:
    is_tiny = place.problem.size(place.size).size_class == "tiny"
    return is_tiny or place.world <= options.most_ranks


def _floats(problem: Problem) -> list[str]:
    return [a.name for a in problem.outputs if "float" in a.check.values()]


def _calibrate(problem: Problem, places: list[Place], worlds: Worlds, trials: int) -> list[Choice]:
    """From nominal inputs and those that are compared bit by bit everywhere, and all families at
    tiny sizes; from all families everywhere only where that leaves a cheat unseen."""
    exact = [family for family in problem.families if _is_exact(problem, family)]
    others = [family for family in problem.families if family not in ("nominal", *exact)]
    tiny = [place for place in places if problem.size(place.size).size_class == "tiny"]
    samples = _measure(places, ["nominal", *exact], worlds, trials)
    samples += _measure(tiny, others, worlds, trials)
    choices = _choose(problem, samples)
    rest = [place for place in places if place not in tiny]
    if rest and others and any(choice.refusals for choice in choices):
        choices = _choose(problem, samples + _measure(rest, others, worlds, trials))
    return choices


def _is_exact(problem: Problem, family: str) -> bool:
    floats = [problem.argument(name) for name in _floats(problem)]
    return any(argument.check_in(family) == "exact" for argument in floats)


def _choose(problem: Problem, samples: list[Sample]) -> list[Choice]:
    by_output = {name: [s for s in samples if s.output == name] for name in _floats(problem)}
    return [
        choose(name, problem.argument(name).dtype, found)
        for name, found in by_output.items()
        if found
    ]


def _measure(places: list[Place], families: list[str], worlds: Worlds, trials: int) -> list[Sample]:
    samples = []
    for place in places:
        for family in families:
            print(f"  {place}, {family}", file=sys.stderr, flush=True)
            for of_rank in worlds(place.world).run(measure, place, family, trials):
                samples += of_rank
    return samples


def _tell(problem: Problem, choices: list[Choice], options: argparse.Namespace) -> None:
    out = sys.stderr if options.json else sys.stdout
    print(table(problem, choices), file=out, flush=True)
    refusals = [(choice.output, text) for choice in choices for text in choice.refusals]
    notes = [(f"note: {choice.output}", text) for choice in choices for text in choice.notes]
    for output, text in refusals + notes:
        print(f"  {problem.name}: {output}: {text}", file=sys.stderr)
    if options.write and refusals:
        print(f"  {problem.name}: nothing is written", file=sys.stderr)
    elif options.write:
        occasion = _occasion(options)
        entries = {choice.output: tolerance_entry(choice, occasion) for choice in choices}
        write_tolerance(problem.path, options.device, entries)


def _occasion(options: argparse.Namespace) -> dict[str, str]:
    import torch

    is_cuda = options.device == "cuda"
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": torch.cuda.get_device_name() if is_cuda else f"cpu {platform.machine()}",
        "torch": torch.__version__ + (" over NCCL" if is_cuda else " over gloo"),
        "sizes": options.sizes,
        "ranks": options.ranks + _but(options),
        "draws": str(options.seeds),
    }


def _but(options: argparse.Namespace) -> str:
    return f" (at most {options.most_ranks} beyond tiny)" if options.most_ranks < MAX_RANKS else ""


def table(problem: Problem, choices: list[Choice]) -> str:
    """Markdown: bounds, honest programs at their largest, cheats at their smallest."""
    lines = [f"| {problem.id}: largest honest, smallest cheat | norm | block | max | seen by |"]
    lines.append("|---|---|---|---|---|")
    for choice in choices:
        rows = {"**bound**": choice.bound, **choice.largest, **choice.smallest}
        for kind, errors in rows.items():
            numbers = " | ".join(f"{getattr(errors, metric):.3g}" for metric in METRICS)
            seen = choice.seen_by.get(kind) if kind in CHEATS else None
            by = f"{seen:.3g} x" if seen is not None else ""
            lines.append(f"| {choice.output}: {kind.replace('_', ' ')} | {numbers} | {by} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(guarded(main))
