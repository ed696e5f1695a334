# SPDX-License-Identifier: Apache-2.0
"""The table of tolerances as Markdown, from what calibrations left in the problem files:
`python -m harness.runner.audit.table [PROBLEM...]`, behind `pkbench audit --table`.
"""

import argparse
import sys

from harness.runner.audit.measure import CHEATS, HONEST, OTHERS
from harness.runner.audit.options import USAGE, guarded, pick_problems
from harness.runner.problem import METRICS, Problem, ProblemError

DEVICES = ("cpu", "cuda")
HEAD = (
    "problem, output",
    "bound",
    "reference",
    "other honest",
    "cheapest cheat",
    "element",
    "8 bits",
)
NEEDED = [cheat for cheat in CHEATS if cheat != "one_rank_missing_in_an_element"]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m harness.runner.audit.table")
    parser.add_argument("problems", nargs="*", metavar="PROBLEM")
    try:
        problems = pick_problems(parser.parse_args(argv).problems)
    except ProblemError as error:
        print(f"pkbench: {error}", file=sys.stderr)
        return USAGE
    print(page(problems))
    return 0


def page(problems: list[Problem]) -> str:
    """A section a device."""
    return "\n\n".join(f"## {device}\n{_table(problems, device)}" for device in DEVICES)


def _table(problems: list[Problem], device: str) -> str:
    """The outputs that were measured, what they were set from, and those that were not."""
    outputs = [
        (f"{problem.id} {argument.name} ({argument.dtype})", entries.get(argument.name))
        for problem in problems
        for entries in [problem.tolerance.get(device, {})]
        for argument in problem.outputs
        if "float" in argument.check.values()
    ]
    measured = [(name, entry) for name, entry in outputs if entry is not None]
    missing = [name for name, entry in outputs if entry is None]
    parts = _measured(measured) if measured else []
    if missing:
        parts.append(f"Not measured yet: {', '.join(missing)}.")
    return "\n\n".join(parts)


def _measured(outputs: list[tuple[str, dict]]) -> list[str]:
    """A row each. What they were set from stands below, once; with several of it a column of
    numbers says which."""
    occasions = list(dict.fromkeys(_occasion(entry.get("set", {})) for _, entry in outputs))
    rows = [HEAD, ["---"] * len(HEAD), *([name, *_cells(entry)] for name, entry in outputs)]
    if len(occasions) == 1:
        return [_lines(rows), f"Set from: {occasions[0]}."]
    numbers = [str(1 + occasions.index(_occasion(entry.get("set", {})))) for _, entry in outputs]
    column = ["set", "---", *numbers]
    below = [f"{number}. {occasion}" for number, occasion in enumerate(occasions, 1)]
    return [
        _lines([[*row, cell] for row, cell in zip(rows, column, strict=True)]),
        "\n".join(["Set from:", *below]),
    ]


def _lines(rows: list) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _cells(entry: dict) -> list[str]:
    measured = entry.get("measured", {})
    others = [measured[kind] for kind in HONEST if kind in measured and kind != "reference"]
    return [
        _numbers(entry),
        _numbers(measured.get("reference")),
        _numbers({m: max(other[m] for other in others) for m in METRICS} if others else None),
        _cheapest(measured, NEEDED),
        _cheapest(measured, ["one_rank_missing_in_an_element"]),
        _cheapest(measured, list(OTHERS)),
    ]


def _numbers(errors: dict | None) -> str:
    return " / ".join(f"{errors[metric]:.3g}" for metric in METRICS) if errors else "-"


def _cheapest(measured: dict, kinds: list[str]) -> str:
    """The one that is seen least, and how many times what is allowed that is."""
    found = [
        (float("inf") if seen == "exact" else seen, kind)
        for kind in kinds
        if (seen := measured.get(kind, {}).get("seen")) is not None
    ]
    if not found:
        return "-"
    seen, kind = min(found)
    times = "bit by bit" if seen == float("inf") else f"{seen:.3g} x"
    name = kind.removeprefix("one_rank_missing_in_").replace("_", " ")
    return times if len(kinds) == 1 else f"{name}: {times}"


def _occasion(when: dict[str, str]) -> str:
    if not when:
        return "nothing that the file says"
    return (
        f"{when['date']}, {when['machine']}, torch {when['torch']}; {when['sizes']}, "
        f"P = {when['ranks']}, {when['draws']} draws"
    )


if __name__ == "__main__":
    sys.exit(guarded(main))
