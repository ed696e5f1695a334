# SPDX-License-Identifier: Apache-2.0
"""Every number of `pkbench score` against another computation of it: what docs/scores.md says,
counted out over all subsets of the attempts in exact fractions."""

import csv
import io
import json
import math
import random

import numpy as np
import pytest

from tests.e2e.command import ROOT, pkbench
from tests.e2e.records import record, write
from tests.e2e.recount import (
    KS,
    NAMES,
    PS,
    SAMPLES,
    SIZES,
    best,
    bound,
    is_correct,
    is_faster,
    is_judged,
    made_up,
    mean,
    over_problems,
    share_of_subsets,
    speedup_of,
)
from tests.e2e.scores import INCOMPLETE, score


@pytest.fixture(scope="module", params=range(4))
def run(request, tmp_path_factory):
    """(records by problem, path)"""
    records = made_up(request.param)
    path = write(tmp_path_factory.mktemp("run") / "a.jsonl", records)
    return {name: [one for one in records if one["problem"] == name] for name in NAMES}, path


# ---- held against the scores ----


def demand_mean(found: dict, key: str, wanted: tuple[float | None, int]):
    value, count = wanted
    assert (found.get(key, {}).get("value")) == (
        None if value is None else pytest.approx(value, abs=1e-12)
    )
    assert found.get(key, {}).get("problems", 0) == count


def demand_bounds(found: dict, problems: list, is_good, k: int, planned: int):
    is_short = any(len([one for one in p if is_judged(one)]) < planned for p in problems)
    for end, rest in (("if_fail", False), ("if_pass", True)):
        wanted = bound(problems, is_good, k, planned, rest) if is_short else None
        assert found.get(str(k), {}).get(end) == (
            None if wanted is None else pytest.approx(wanted, abs=1e-12)
        )


def demand_group(group: dict, problems: list[list[dict]], planned: int):
    records = [one for attempts in problems for one in attempts]
    judged = [one for one in records if is_judged(one)]
    correct = [one for one in judged if is_correct(one)]
    speedups = [speedup_of(one) for one in correct if speedup_of(one) is not None]
    assert group["problems"] == len(problems)
    assert group["problems_judged"] == sum(any(map(is_judged, p)) for p in problems)
    assert group["problems_solved"] == sum(any(map(is_correct, p)) for p in problems)
    assert group["planned"] == planned * len(problems)
    assert (group["judged"], group["correct"]) == (len(judged), len(correct))
    for key, verdict in (("pending", "INFRA_ERROR"), ("unsupported", "UNSUPPORTED")):
        assert group[key] == sum(one["verdict"] == verdict for one in records)
    assert group["missing"] == planned * len(problems) - len(records)
    assert group["coverage"] == pytest.approx(len(judged) / group["planned"])
    assert group["distinct"] == sum(len({o["source_sha256"] for o in p}) for p in problems)
    assert (group["speedup_of"], group["unmeasured"]) == (
        len(speedups),
        len(correct) - len(speedups),
    )
    logs = [math.log(speedup) for speedup in speedups]
    if logs:
        assert group["speedup"]["value"] == pytest.approx(math.exp(sum(logs) / len(logs)))
    for k in KS:
        demand_mean(group["pass"], str(k), over_problems(problems, is_correct, k))
        demand_bounds(group["pass"], problems, is_correct, k, planned)
        wanted = best(problems, k)
        assert group["best"].get(str(k), {}).get("value") == (
            None if wanted is None else pytest.approx(wanted)
        )
        for p in PS:
            demand_fast(group, problems, p, k, planned)


def demand_fast(group: dict, problems: list[list[dict]], p: float, k: int, planned: int):
    found = group["fast"][f"{p:g}"]
    demand_mean(found, str(k), over_problems(problems, is_faster(p), k))
    demand_bounds(found, problems, is_faster(p), k, planned)

    def may_be_faster(one: dict) -> bool:
        return is_correct(one) and (speedup_of(one) is None or is_faster(p, "high")(one))

    for end, is_good in (("by_low", is_faster(p, "low")), ("by_high", may_be_faster)):
        wanted, _ = over_problems(problems, is_good, k)
        assert found.get(str(k), {}).get(end) == (
            None if wanted is None else pytest.approx(wanted, abs=1e-12)
        )
    straddling = [
        one
        for attempts in problems
        for one in attempts
        if is_faster(p, "high")(one) and not is_faster(p, "low")(one)
    ]
    assert group["straddling"][f"{p:g}"] == len(straddling)


def problem_file(name: str) -> dict:
    path = ROOT / "problems" / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {"category": "unknown"}


def test_every_number_is_that_of_the_subsets(run):
    by_problem, path = run
    answer = score(path, "--samples", SAMPLES, status=INCOMPLETE)
    demand_group(answer["all"], list(by_problem.values()), SAMPLES)
    files = {name: problem_file(name) for name in NAMES}
    categories = {file["category"] for file in files.values()}
    collectives = {one for file in files.values() for one in file.get("collectives", [])}
    assert set(answer["categories"]) == categories
    assert set(answer["collectives"]) == collectives
    for name, group in answer["categories"].items():
        members = [by_problem[one] for one in NAMES if files[one]["category"] == name]
        demand_group(group, members, SAMPLES)
    for name, group in answer["collectives"].items():
        members = [by_problem[n] for n in NAMES if name in files[n].get("collectives", [])]
        demand_group(group, members, SAMPLES)


def test_classes_of_sizes_and_verdicts_are_counted_out(run):
    by_problem, path = run
    answer = score(path, "--samples", SAMPLES, status=INCOMPLETE)
    records = [one for attempts in by_problem.values() for one in attempts]
    judged = {name: [one for one in by_problem[name] if is_judged(one)] for name in NAMES}
    for name in SIZES:
        found = answer["sizes"][name]
        # Problems that the catalogue does not know are asked for what they came to.
        asked = [
            p
            for p in NAMES
            if p != "999_made_up" or any(s["class"] == name for o in judged[p] for s in o["sizes"])
        ]
        came = {
            p: [[s for s in one["sizes"] if s["class"] == name] for one in judged[p]] for p in asked
        }
        right = {p: [bool(s) and s[0]["verdict"] == "CORRECT" for s in came[p]] for p in asked}
        assert found["problems"] == sum(bool(right[p]) for p in asked)
        assert found["judged"] == sum(len(right[p]) for p in asked)
        assert found["reached"] == sum(bool(s) for p in asked for s in came[p])
        assert found["correct"] == sum(sum(right[p]) for p in asked)
        shares = [share_of_subsets(right[p], 1) for p in asked]
        assert found["pass_1"]["value"] == pytest.approx(mean(shares)[0])
        logs = [
            math.log(s["speedup"]["eager"]["value"])
            for p in asked
            for sizes in came[p]
            for s in sizes
            if s["verdict"] == "CORRECT" and "speedup" in s
        ]
        assert found["speedup_of"] == len(logs)
        assert found["speedup"]["value"] == pytest.approx(math.exp(sum(logs) / len(logs)))
    assert answer["verdicts"] == {
        verdict: sum(one["verdict"] == verdict for one in records)
        for verdict in {one["verdict"] for one in records}
    }


def test_intervals_are_those_of_other_draws_of_problems(tmp_path):
    """The same percentiles from another generator of random numbers, but for its luck."""
    numbers = random.Random(5)
    records = [
        record(f"{n:03d}_made_up", k, "CORRECT" if numbers.random() < n % 7 / 6 else "CRASH",
               speedup=numbers.choice([0.7, 1.3, 2.5]))
        for n in range(1, 41)
        for k in range(4)
    ]  # fmt: skip
    group = score(write(tmp_path / "a.jsonl", records))["all"]
    problems = [records[4 * i : 4 * i + 4] for i in range(40)]
    draws = np.random.default_rng(1).integers(0, 40, (10000, 40))
    for found, is_good, k in (
        (group["pass"]["1"], is_correct, 1),
        (group["pass"]["3"], is_correct, 3),
        (group["fast"]["1"]["3"], is_faster(1), 3),
    ):
        values = np.array([float(over_problems([p], is_good, k)[0]) for p in problems])
        low, high = np.percentile(values[draws].mean(axis=1), [2.5, 97.5])
        assert found["low"] == pytest.approx(low, abs=0.008)
        assert found["high"] == pytest.approx(high, abs=0.008)
        assert found["high"] - found["low"] > 0.1
    # The speed-up: every timed attempt counts once, so problems weigh as many as they have.
    logs = [[math.log(speedup_of(one)) for one in p if speedup_of(one)] for p in problems]
    sums, counts = np.array([sum(one) for one in logs]), np.array([len(one) for one in logs])
    low, high = np.percentile(
        np.exp(sums[draws].sum(axis=1) / counts[draws].sum(axis=1)), [2.5, 97.5]
    )
    assert group["speedup"]["low"] == pytest.approx(low, rel=0.02)
    assert group["speedup"]["high"] == pytest.approx(high, rel=0.02)


# ---- the other forms ----


def test_csv_has_every_number_of_the_json(run):
    _, path = run
    arguments = ("--samples", SAMPLES, path)
    answer = score(*arguments, status=INCOMPLETE)
    rows = csv.DictReader(io.StringIO(pkbench("score", "--csv", *arguments).out))
    cells = {(row["group"], row["name"], row["metric"], row["p"], row["k"]): row for row in rows}

    def demand(place: tuple, wanted: dict):
        row = cells[place]
        for key, number in wanted.items():
            assert float(row[key]) == pytest.approx(number, rel=1e-14), (place, key)
        for key in {"value", "low", "high"} - set(wanted):
            assert row[key] == "", (place, key)

    def demand_groups(kind: str, name: str, group: dict):
        for key, number in group.items():
            if isinstance(number, int | float) and key != "problems":
                demand((kind, name, key, "", ""), {"value": number, "problems": group["problems"]})
        for k in map(str, KS):
            demand((kind, name, "pass", "", k), group["pass"].get(k, {}))
            demand((kind, name, "best", "", k), group["best"].get(k, {}))
            for p in group["fast"]:
                demand((kind, name, "fast", p, k), group["fast"][p].get(k, {}))
        for p, number in group["straddling"].items():
            demand((kind, name, "straddling", p, ""), {"value": number})
        demand((kind, name, "speedup", "", ""), group.get("speedup", {}))

    demand_groups("all", "all", answer["all"])
    for kind in ("category", "collective"):
        plural = {"category": "categories", "collective": "collectives"}[kind]
        for name, group in answer[plural].items():
            demand_groups(kind, name, group)
    for name, size in answer["sizes"].items():
        for key in ("judged", "reached", "correct", "speedup_of"):
            demand(("size", name, key, "", ""), {"value": size[key], "problems": size["problems"]})
        demand(("size", name, "pass", "", "1"), size["pass_1"])
        demand(("size", name, "speedup", "", ""), size["speedup"])
    for name, number in answer["verdicts"].items():
        demand(("verdict", name, "attempts", "", ""), {"value": number})
    for problem in answer["problems"]:
        for key, number in problem.items():
            if isinstance(number, int | float):
                demand(("problem", problem["problem"], key, "", ""), {"value": number})
        for p, number in problem["faster"].items():
            demand(("problem", problem["problem"], "faster", p, ""), {"value": number})


def test_the_table_shows_the_numbers_of_the_json(run):
    _, path = run
    arguments = ("--samples", SAMPLES, path)
    answer = score(*arguments, status=INCOMPLETE)
    text = pkbench("score", "--by-problem", *arguments).out
    lines = {line.split("  ")[1]: line for line in text.splitlines() if line.startswith("  ")}

    def shown(interval: dict, unit: float, form: str, mark: str) -> str:
        text = form % (interval["value"] * unit) + mark
        if "low" not in interval:
            return text
        return text + f" [{form % (interval['low'] * unit)}, {form % (interval['high'] * unit)}]"

    for k in map(str, KS):
        if k in answer["all"]["pass"] and "value" in answer["all"]["pass"][k]:
            assert shown(answer["all"]["pass"][k], 100, "%.1f", " %") in lines["pass@k"]
            assert shown(answer["all"]["best"][k], 1, "%.2f", "x") in lines["best of k"]
            for p, found in answer["all"]["fast"].items():
                assert shown(found[k], 100, "%.1f", " %") in lines[f"fast_{p}@k"]
    assert f"coverage {100 * answer['all']['coverage']:.1f} %" in text
    speedup = shown(answer["all"]["speedup"], 1, "%.2f", "x")
    assert f"{speedup}, geometric mean of {answer['all']['speedup_of']} (of" in text
    for verdict, number in answer["verdicts"].items():
        assert f"{verdict} {number}" in text
    for plural in ("categories", "collectives"):
        for name, group in answer[plural].items():
            if "value" in group["pass"].get("1", {}):
                assert shown(group["pass"]["1"], 100, "%.1f", " %") in lines[name]
            assert f"{group['correct']}/{group['judged']}" in lines[name]
    for problem in answer["problems"]:
        assert f"{problem['correct']}/{problem['judged']}" in lines[problem["problem"]]


def test_no_line_ends_in_blanks(run, tmp_path):
    _, path = run
    for arguments in (
        ("score", "--by-problem", path),
        ("score", "--samples", SAMPLES, path),
        ("score", "--by-problem", "--device", "cpu", write(
            tmp_path / "c.jsonl", [record("001_allreduce", device="cpu")])),
        ("compare", path, path),
    ):  # fmt: skip
        for line in pkbench(*arguments).out.splitlines():
            assert line == line.rstrip(), (arguments, line)
