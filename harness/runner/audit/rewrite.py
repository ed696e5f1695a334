# SPDX-License-Identifier: Apache-2.0
"""Writes tolerances into a problem file and leaves the rest of its text as it is."""

import json
import math
import os
from pathlib import Path

from harness.runner.audit.choose import Choice
from harness.runner.audit.measure import CHEATS, HONEST, OTHERS
from harness.runner.compare import Errors
from harness.runner.problem import METRICS, ProblemError

_WHITE = " \t\r\n"


def tolerance_entry(choice: Choice, occasion: dict[str, str]) -> dict:
    """What stands under tolerance.DEVICE.OUTPUT. The occasion is when and where it was measured."""
    measured: dict[str, dict] = {}
    for found, which, words in (
        (choice.largest, "largest", HONEST),
        (choice.smallest, "smallest", {**CHEATS, **OTHERS}),
    ):
        for kind, errors in found.items():
            if all(math.isfinite(value) for value in _numbers(errors).values()):
                seen = _seen(choice.seen_by.get(kind))
                what = f"{words[kind]}: {which} nominal"
                measured[kind] = {**_numbers(errors, digits=3), **seen, "what": what}
    return {**_numbers(choice.bound), "measured": measured, "set": occasion}


def _seen(times: float | None) -> dict:
    if times is None:
        return {}
    return {"seen": float(f"{times:.3g}") if math.isfinite(times) else "exact"}


def _numbers(errors: Errors, digits: int = 6) -> dict[str, float]:
    return {metric: float(f"{getattr(errors, metric):.{digits}g}") for metric in METRICS}


def write_tolerance(path: Path, device: str, entries: dict[str, dict]) -> None:
    """Replaces a device's tolerances; through a file beside it, so that none is ever half
    written."""
    text = path.read_text(encoding="utf-8")
    begin, end = _span(text, "tolerance", path)
    tolerance = json.loads(text[begin:end])
    tolerance[device] = {**tolerance.get(device, {}), **entries}
    changed = text[:begin] + _rendered(tolerance) + text[end:]
    beside = path.with_suffix(".json.new")
    beside.write_text(changed, encoding="utf-8")
    os.replace(beside, path)


def _span(text: str, key: str, path: Path) -> tuple[int, int]:
    """Where the value of a key of the outermost object stands."""
    decoder = json.JSONDecoder()
    at = _skip(text, text.index("{") + 1)
    while text[at] != "}":
        name, at = decoder.raw_decode(text, at)
        begin = _skip(text, _skip(text, at) + 1)  # the colon
        _, end = decoder.raw_decode(text, begin)
        if name == key:
            return begin, end
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    raise ProblemError(f"{path.name} has no key '{key}'")


def _skip(text: str, at: int) -> int:
    while text[at] in _WHITE:
        at += 1
    return at


def _rendered(tolerance: dict) -> str:
    """In the style of the problem files: bounds in a line, a line a measurement."""

    def block(items: dict, indent: int, value) -> str:
        inner = " " * (indent + 2)
        lines = [f"{inner}{json.dumps(k)}: {value(v, indent + 2)}" for k, v in items.items()]
        return "{\n" + ",\n".join(lines) + "\n" + " " * indent + "}"

    def output(entry: dict, indent: int) -> str:
        bounds = json.dumps({metric: entry[metric] for metric in METRICS})[1:-1]
        if not entry.get("measured"):
            return "{" + bounds + "}"
        inner = " " * (indent + 2)
        measured = block(entry["measured"], indent + 2, lambda v, _: json.dumps(v))
        lines = [bounds, f'"measured": {measured}']
        if entry.get("set"):
            lines.append(f'"set": {json.dumps(entry["set"])}')
        return "{\n" + ",\n".join(inner + line for line in lines) + "\n" + " " * indent + "}"

    def by_device(outputs: dict, indent: int) -> str:
        return block(outputs, indent, output) if outputs else "{}"

    return block(tolerance, 2, by_device) if tolerance else "{}"
