# SPDX-License-Identifier: Apache-2.0
"""`pkbench report` without a browser: what it writes, refuses and needs."""

import json
import subprocess
from itertools import pairwise

import pytest

from tests.e2e.command import ROOT, pkbench
from tests.e2e.records import PROTOCOL, record, write
from tests.e2e.report_pages import (
    INCOMPLETE,
    LIBRARY,
    PROBLEMS,
    data_of,
    needs_library,
    refusal,
    report,
)
from tests.e2e.report_runs import make_run

pytestmark = needs_library


def test_numbers_are_those_of_score_and_compare(two_runs):
    runs, page = two_runs
    data = data_of(page)
    for run, shown in zip(runs, data["runs"], strict=True):
        assert shown["score"] == pkbench("score", "--json", run).record
    assert len(data["pairs"]) == 1
    assert data["pairs"][0]["compare"] == pkbench("compare", "--json", *runs).record
    assert "upper_bound" not in data


def test_the_curve_passes_through_the_score(two_runs):
    for run in data_of(two_runs[1])["runs"]:
        fast, curve = run["score"]["all"]["fast"], run["curve"]
        seen = 0
        for p, by_k in fast.items():
            if float(p) not in curve["thresholds"]:
                continue
            at = curve["thresholds"].index(float(p))
            for k, value in by_k.items():
                for key in ("value", "low", "high"):
                    assert curve["k"][k][key][at] == pytest.approx(value[key], rel=1e-4)
                seen += 1
        assert seen >= 12
        values = curve["k"]["1"]["value"]
        assert values == sorted(values, reverse=True)
        assert values[0] == pytest.approx(run["score"]["all"]["pass"]["1"]["value"], rel=1e-4)
        assert values[-1] == 0


def test_the_funnel_loses_every_attempt_once(tmp_path):
    verdicts = (
        ["CORRECT"] * 4
        + ["NO_CODE", "TRUNCATED", "COMPILE_ERROR", "ABI_ERROR", "CRASH", "WRONG_OUTPUT"]
        + ["INFRA_ERROR", "UNSUPPORTED"]
    )
    speedups = [2.0, 1.5, 0.5, None] + [None] * 8
    records = [
        record(PROBLEMS[0], sample, verdict, speedup=speedup)
        for sample, (verdict, speedup) in enumerate(zip(verdicts, speedups, strict=True))
    ]
    run = write(tmp_path / "run.jsonl", records)
    page = report(tmp_path / "page.html", run, "--samples", 13, status=INCOMPLETE)
    funnel = data_of(page)["runs"][0]["funnel"]
    assert [(stage["stage"], stage["count"]) for stage in funnel] == [
        ("asked", 13),
        ("extracted", 10),
        ("compiled", 8),
        ("correct", 4),
        ("fast", 2),
    ]
    assert funnel[1]["lost"] == {"no record": 1, "NO_CODE": 1, "TRUNCATED": 1}
    assert funnel[4]["lost"] == {"not timed": 1, "not faster": 1}
    for before, after in pairwise(funnel):
        assert before["count"] - sum(after["lost"].values()) == after["count"]


def test_hostile_texts_do_not_fill_the_page(tmp_path):
    """Characters that take six bytes in a page, and too many of them."""
    records = [
        record(PROBLEMS[0], sample, "CRASH", reason=f"{sample}" + "<" * 1000)
        for sample in range(3000)
    ]
    path = report(tmp_path / "page.html", write(tmp_path / "run.jsonl", records))
    assert path.stat().st_size - LIBRARY.stat().st_size < 3 << 20
    reasons = data_of(path)["runs"][0]["attempts"]["reasons"]
    assert reasons[0].startswith("0" + "<" * 599 + "\u2026 (cut here; 1001 bytes")
    assert reasons[-1] == "\u2026 (cut here; 1004 bytes in the record)"


def test_sources_to_embed_have_a_limit(tmp_path):
    folder = make_run(tmp_path / "run", "model", PROBLEMS[:1], 4, has_sources=True)
    records = []
    for number in range(4):
        text = f"// {number}\n" + "x" * 700_000
        (folder / "samples" / PROBLEMS[0] / f"{number}.cu").write_text(text)
        records.append(record(PROBLEMS[0], number, "CRASH", source=text))
    write(folder / "results" / "vm-cuda-P2.jsonl", records)
    answer = pkbench("report", folder, "--embed-source", "-o", tmp_path / "page.html")
    assert answer.status == 2
    assert "--embed-source takes 2 MiB of sources at most" in answer.err
    assert not (tmp_path / "page.html").exists()


def test_bad_input_is_named(tmp_path):
    page = tmp_path / "page.html"
    good = write(tmp_path / "good.jsonl", [record(PROBLEMS[0], speedup=2.0)])
    empty = write(tmp_path / "empty.jsonl", [])
    versions = {"pkbench": "0.1.0", "protocol": PROTOCOL + 1}
    mixed = write(
        tmp_path / "mixed.jsonl",
        [record(PROBLEMS[0], 0), record(PROBLEMS[0], 1, versions=versions)],
    )
    assert "holds no record" in refusal(empty, "-o", page)
    assert "protocol versions should not be mixed" in refusal(mixed, "-o", page)
    assert "cannot find the run" in refusal(tmp_path / "none", "-o", page)
    assert "name a run" in refusal()
    assert "12 runs at most" in refusal(*[good] * 13, "-o", page)
    nowhere = tmp_path / "no" / "page.html"
    assert "cannot write beside" in refusal(good, "-o", nowhere, status=5)
    folder = make_run(tmp_path / "run", "model", PROBLEMS[:1], 1)
    assert "cannot write to the folder" in refusal(folder, "-o", nowhere, status=5)
    assert not page.exists()
    assert "is a file of the run" in refusal(good, "-o", good)
    report(page, mixed, "--mix")
    assert data_of(page)["runs"][0]["score"]["mixed"] == ["protocol versions"]


def test_a_missing_library_is_named_with_its_remedy(tmp_path):
    good = write(tmp_path / "good.jsonl", [record(PROBLEMS[0], speedup=2.0)])
    root = tmp_path / "root"
    (root / "build").mkdir(parents=True)
    for name in ("problems", "evaluator"):
        (root / name).symlink_to(ROOT / name)
    said = refusal(good, "-o", tmp_path / "page.html", status=3, env={"PKBENCH_ROOT": str(root)})
    assert "echarts.min.js" in said
    assert "run tools/setup.sh and make" in said


def test_an_installed_command_has_what_it_needs(tmp_path):
    good = write(tmp_path / "good.jsonl", [record(PROBLEMS[0], speedup=2.0)])
    subprocess.run([ROOT / "tools" / "install.sh", tmp_path], check=True, capture_output=True)
    page = tmp_path / "page.html"
    command = [tmp_path / "bin" / "pkbench", "report", good, "-o", page]
    subprocess.run(command, check=True, capture_output=True)
    assert data_of(page) == data_of(report(tmp_path / "other.html", good))


def test_a_page_names_models_and_links_to_no_empty_source(tmp_path):
    run = make_run(tmp_path / "run", "run", PROBLEMS[:1], 4, has_sources=True)
    records = [
        record(PROBLEMS[0], sample, verdict, run="run")
        for sample, verdict in enumerate(["CORRECT", "NO_CODE", "TRUNCATED", "WRONG_OUTPUT"])
    ]
    write(next((run / "results").glob("*.jsonl")), records)
    models = ["alpha\x1b", "beta", "alpha\x1b", "beta"]
    for sample, model in enumerate(models):
        status = json.dumps({"status": "CODE", "model": model})
        (run / "samples" / PROBLEMS[0] / f"{sample}.json").write_text(status)
    (run / "run.json").write_text('{"models": ["gamma"]}')
    shown = data_of(report(tmp_path / "page.html", run))["runs"][0]
    assert shown["models"] == ["alpha?", "beta", "gamma"]
    assert [row[9] > 0 for row in shown["attempts"]["rows"]] == [True, False, False, True]
    (run / "run.json").write_text('{"models": "gamma"}')
    assert '"models" of ' in refusal(run, "-o", tmp_path / "page.html")
