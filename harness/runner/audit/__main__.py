# SPDX-License-Identifier: Apache-2.0
"""Audits problems: `python -m harness.runner.audit [PROBLEM...]`, behind `pkbench audit`.

Status 0 if there is no fault, 1 if there is one, 2 for what was asked wrongly.
"""

import argparse
import sys
import time

from harness.runner.audit import report
from harness.runner.audit.examine import examine
from harness.runner.audit.options import (
    FAULTS_FOUND,
    USAGE,
    add_options,
    guarded,
    pick_problems,
    pick_worlds,
    places_asked,
)
from harness.runner.audit.scene import Place
from harness.runner.audit.world import Worlds
from harness.runner.expr import ExprError
from harness.runner.problem import Problem, ProblemError


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.runner.audit", description=__doc__)
    add_options(parser, sizes="tiny")
    options = parser.parse_args(argv)
    try:
        worlds = pick_worlds(options)
        plan = [
            (problem, places_asked(problem, options, worlds))
            for problem in pick_problems(options.problems)
        ]
    except (ProblemError, ExprError) as error:
        print(f"pkbench: {error}", file=sys.stderr)
        return USAGE
    running = Worlds(options.device)
    columns = report.name_columns([problem.name for problem, _ in plan])
    audited = []
    try:
        for problem, places in plan:
            audited.append(_audit(problem, places, running, options.seeds))
            report.end(audited[-1], columns)
    finally:
        running.close()
    print(report.as_json(audited) if options.json else report.table(audited))
    return FAULTS_FOUND if any(one.wrong for one in audited) else 0


def _audit(problem: Problem, places: list[Place], worlds: Worlds, seeds: int) -> report.Audited:
    report.begin(problem.name)
    start = time.monotonic()
    faults = [fault for place in places for fault in examine(place, worlds, seeds)]
    return report.Audited(problem.name, len(places), time.monotonic() - start, faults)


if __name__ == "__main__":
    sys.exit(guarded(main))
