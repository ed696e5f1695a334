# SPDX-License-Identifier: Apache-2.0
"""`pkbench report`, read as a person would: in a browser that can reach nothing."""

import json
import os
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.e2e.command import pkbench
from tests.e2e.records import problem_name, record, size_of, write
from tests.e2e.report_pages import (
    INCOMPLETE,
    PROBLEMS,
    data_of,
    needs_library,
    refusal,
    report,
)
from tests.e2e.report_runs import make_run, timed

HOSTILE = (
    "<script>document.title='owned'</script> </script><img src=x onerror=alert(1)> "
    "\u202egnp.exe\u202c \x1b[31mred\x1b[0m &lt;b&gt; {{style}} ]]> 'quoted' \"twice\" \x00 end"
)
TIMES, NOTHING = "\u00d7", "\u2013"
pytestmark = needs_library


def column(page, section: str, number: int) -> list[str]:
    """The texts of a column of a section's table."""
    return page.locator(f"#{section} tbody > tr > td:nth-child({number})").all_inner_texts()


# ---- what it says ----


def test_the_upper_bound_is_known_by_its_name(tmp_path, visit):
    runs = [make_run(tmp_path / "a", "model", PROBLEMS[:2], 2, seed=4)]
    bound = [record(name, run="pk_solutions", speedup=(7.25, 7, 7.5)) for name in PROBLEMS[:2]]
    runs.append(write(tmp_path / "bound.jsonl", bound))
    path = report(tmp_path / "page.html", *runs)
    assert data_of(path)["upper_bound"] == 1
    page = visit(path)
    assert "hand-written upper bound" in page.inner_text("#runs")
    names = page.locator("#problems th").all_inner_texts()
    assert column(page, "problems", names.index("Upper bound") + 1) == [f"7.25{TIMES}"] * 2
    page.get_by_label("Run shown below").select_option(label="pk_solutions")
    assert "Upper bound" not in page.locator("#problems th").all_inner_texts()


# ---- in a browser ----


def test_it_renders(two_runs, visit):
    page = visit(two_runs[1])
    assert page.title() == "pkbench: first, second"
    value = data_of(two_runs[1])["runs"][0]["score"]["all"]["pass"]["1"]
    tile = page.locator("#summary .tile").first.inner_text()
    assert f"{100 * value['value']:.1f} %" in tile
    assert f"[{100 * value['low']:.1f}, {100 * value['high']:.1f}]" in tile
    for section in ("summary", "compare", "thresholds", "groups", "funnel"):
        assert page.locator(f"#{section} svg path").count() > 3, section
    assert len(column(page, "problems", 1)) == len(PROBLEMS)
    assert len(column(page, "attempts", 1)) == 40
    assert "NVIDIA H200" in page.locator("#environment").inner_text()
    assert "not known" in page.locator("#floor").inner_text()
    assert page.locator("#summary").inner_text().count("fast_1.25") >= 1
    assert "undefined" not in page.inner_text("body")
    assert "NaN" not in page.inner_text("body")
    assert "[object" not in page.inner_text("body")


def test_problems_sort_and_filter(two_runs, visit):
    page = visit(two_runs[1])
    head = page.locator("#problems th button")
    names = column(page, "problems", 1)
    assert names == sorted(PROBLEMS)
    head.first.click()
    assert column(page, "problems", 1) == sorted(PROBLEMS, reverse=True)
    assert page.locator("#problems th").first.get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="Right", exact=True).click()
    rights = [int(text) for text in column(page, "problems", 4)]
    assert rights == sorted(rights, reverse=True)
    assert len(set(rights)) > 1
    page.get_by_label("Name").fill("ALL")
    assert sorted(column(page, "problems", 1)) == [PROBLEMS[0], PROBLEMS[1], PROBLEMS[2]]
    page.locator("#problems select").first.select_option("expert")
    assert column(page, "problems", 1) == []
    page.get_by_label("Name").fill("")
    assert column(page, "problems", 1) == [PROBLEMS[3]]
    assert "1 of 4 problems" in page.locator("#problems").inner_text()


def test_attempts_sort_filter_and_turn_pages(tmp_path, visit):
    run = make_run(tmp_path / "run", "model", PROBLEMS, 40, seed=8)
    page = visit(report(tmp_path / "page.html", run))
    attempts = page.locator("#attempts")
    assert "Attempts 1 to 50 of 160" in attempts.inner_text()
    page.get_by_label("next attempts").click()
    assert "Attempts 51 to 100 of 160" in attempts.inner_text()
    page.locator("#attempts th button", has_text="Speed-up").click()
    fastest = [float(text.split(TIMES)[0]) for text in column(page, "attempts", 4)[:20]]
    assert fastest == sorted(fastest, reverse=True)
    page.locator("#attempts th button", has_text="Speed-up").click()
    slowest = [float(text.split(TIMES)[0]) for text in column(page, "attempts", 4)[:20]]
    assert slowest == sorted(slowest)
    page.locator("#attempts select").select_option("WRONG_OUTPUT")
    assert set(column(page, "attempts", 3)) == {"WRONG_OUTPUT"}
    page.get_by_label("Words in").fill("rank 3 no-such-word")
    assert "No attempt matches" in attempts.inner_text()
    page.get_by_label("Words in").fill("TRIAL rank")
    reasons = column(page, "attempts", 5)
    assert reasons
    assert all("rank" in reason and "trial" in reason for reason in reasons)


def test_the_keyboard_is_enough(two_runs, visit):
    page = visit(two_runs[1])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator("#problems th button").first.focus()
    page.keyboard.press("Enter")
    assert column(page, "problems", 1) == sorted(PROBLEMS, reverse=True)
    assert page.evaluate("document.activeElement.textContent") == "Problem"  # it keeps the focus
    page.locator("#problems .open").first.focus()
    page.keyboard.press("Space")
    assert page.locator("#problems tr.inner td.reason").count() == 10
    page.keyboard.press("Space")
    assert page.locator("#problems tr.inner").count() == 0
    page.locator("#thresholds input").first.focus()
    page.keyboard.press("ArrowRight")
    assert "fast_p@3" in page.locator("#thresholds figcaption").inner_text()
    assert page.locator("#thresholds input:checked").get_attribute("value") == "3"


def test_rows_open_to_every_reason_and_size(two_runs, visit):
    runs, path = two_runs
    records = [json.loads(line) for line in next((runs[0] / "results").iterdir()).open()]
    page = visit(path)
    for problem in PROBLEMS:
        page.get_by_role("button", name=problem).first.click()
    shown = page.locator("#problems").inner_text()
    reasons = [entry["reason"] for entry in records if "reason" in entry]
    assert len(reasons) > 5
    assert all(reason in shown for reason in reasons)
    right = next(entry for entry in records if entry["verdict"] == "CORRECT")
    row = page.locator("#attempts tbody > tr", has_text="CORRECT").first
    row.locator(".open").click()
    inner = page.locator("#attempts tr.inner").inner_text()
    assert [size in inner for size in ("tiny", "pkb", "large")] == [True] * 3
    value = right["sizes"][1]["speedup"]["eager"]["value"]
    assert f"{value:#.3g}{TIMES}" in inner


def test_charts_tell_more_to_a_pointer(two_runs, visit):
    page = visit(two_runs[1])
    page.locator("#thresholds svg").hover()
    tip = page.locator("#thresholds .tip")
    tip.wait_for()
    assert re.search(r"more than .* as fast\s+first: [0-9.]+ % \[", tip.inner_text())
    page.locator("#funnel svg").hover(position={"x": 200, "y": 20})
    assert "40 attempts" in page.locator("#funnel .tip").inner_text()


def test_runs_are_switched(two_runs, visit):
    page = visit(two_runs[1])
    tile = page.locator("#summary .tile .value").first
    before, subject = tile.inner_text(), data_of(two_runs[1])["runs"][1]["score"]
    page.get_by_label("Run shown below").select_option(label="second")
    assert page.get_attribute("body", "data-run") == "second"
    assert tile.inner_text() == f"{100 * subject['all']['pass']['1']['value']:.1f} %" != before
    rights = [entry["correct"] for entry in subject["problems"]]
    assert [int(text) for text in column(page, "problems", 4)] == rights


def test_a_comparison_says_what_compare_says(two_runs, visit):
    runs, path = two_runs
    answer = pkbench("compare", "--json", *runs).record
    text = visit(path).locator("#compare").inner_text()
    row = answer["pass"]["1"]
    assert f"{100 * abs(row['difference']['value']):.1f}" in text
    assert f"{row['p']:.4f}" in text
    for name in answer["faster_only_by_a"] + answer["faster_only_by_b"]:
        assert name in text


def test_the_floor_is_shown_where_it_is_known(tmp_path, visit):
    """013 at two ranks sends 5.2 us at 4e11 bytes a second at size pkb: a tenth of 52 us."""
    ceilings = tmp_path / "ceilings.json"
    speeds = {"flop_per_s": {"bf16": 1e15}, "hbm_bytes_per_s": 4e12, "sent_bytes_per_s": 4e11}
    ceilings.write_text(json.dumps(speeds))
    least_us = 1e6 * 2 * (1024 * 512 + 512 * 1024) / 4e11
    sizes = [timed(name, 2.0, 20 * least_us) for name in ("tiny", "pkb", "large")]
    unknown = record(problem_name(900), speedup=2.0)
    path = write(tmp_path / "run.jsonl", [record("013_gemm_allreduce", sizes=sizes), unknown])
    page = report(tmp_path / "page.html", path, "--ceilings", ceilings)
    rows = data_of(page)["runs"][0]["attempts"]["rows"]
    assert [len(size) for size in rows[0][7]] == [7, 9, 9]
    assert rows[0][7][1][8] == pytest.approx(0.1, rel=0.01)
    assert [len(size) for size in rows[1][7]] == [7, 7, 7]
    shown = visit(page)
    assert shown.locator("#floor svg path").count() > 2
    ceilings.write_text("{}")
    assert "does not hold ceilings" in refusal(path, "--ceilings", ceilings, "-o", page)
    said = refusal(path, "--ceilings", tmp_path / "no", "-o", page)
    assert re.search(r"cannot find the ceilings .*No such file", said)


def test_why_no_floor_is_known(tmp_path, visit):
    """Of each run for itself: one with two worlds, one that knows no problem, one that is fine."""
    ceilings = tmp_path / "ceilings.json"
    speeds = {"flop_per_s": {"bf16": 1e15}, "hbm_bytes_per_s": 4e12, "sent_bytes_per_s": 4e11}
    ceilings.write_text(json.dumps(speeds))
    name = "013_gemm_allreduce"
    sizes = [timed(size, 2.0, 100.0) for size in ("tiny", "pkb", "large")]
    mixed = [record(name, world - 2, sizes=sizes, run="mixed", world=world) for world in (2, 4)]
    records = {
        "mixed": mixed,
        "unknown": [record(problem_name(900), speedup=2.0, run="unknown")],
        "untimed": [record(name, device="cpu", run="untimed")],
        "fine": [record(name, sizes=sizes, run="fine")],
    }
    paths = [write(tmp_path / f"{run}.jsonl", lines) for run, lines in records.items()]
    page = tmp_path / "page.html"
    answer = pkbench("report", *paths, "--mix", "--ceilings", ceilings, "-o", page)
    why = {
        "mixed": "a floor is of one number of ranks, and its attempts had 2 and 4; "
        "take one with --world",
        "unknown": "none of its problems is known here",
        "untimed": "its attempts were not timed on GPUs",
    }
    for run, words in why.items():
        assert f"note: no share of the floor is known of {run}: {words}\n" in answer.err
    assert [one.get("no_floors") for one in data_of(page)["runs"]] == [*why.values(), None]
    section = visit(page).locator("#floor")
    assert section.locator("svg path").count() > 2
    assert [one in section.inner_text() for one in why.values()] == [True] * 3
    alone = visit(report(tmp_path / "one.html", paths[0], "--mix", "--ceilings", ceilings))
    assert why["mixed"] in alone.locator("#floor").inner_text()


# ---- hostile texts ----


def test_hostile_texts_stay_texts(tmp_path, visit):
    name = "</script><b>run"
    long = "A" * 100_000
    records = [
        record(PROBLEMS[0], 0, "CRASH", run=name, reason=HOSTILE),
        record(PROBLEMS[0], 1, "CRASH", run=name, reason=long),
        record(PROBLEMS[0], 2, "CRASH", run=name, reason="__proto__"),
    ]
    for entry in records:
        entry["flags"]["constructor"] = "__proto__"
        entry["machine"]["class"] = "<img src=x onerror=alert(2)>"
        entry["versions"]["<script>"] = "</script><script>alert(3)</script>"
    path = report(tmp_path / "page.html", write(tmp_path / "run.jsonl", records))
    text = path.read_text()
    assert text.count("</script>") == 3
    assert long not in text
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\x00]", text)
    page = visit(path)
    assert page.title() == f"pkbench: {name}"
    assert page.inner_text("h1") == name
    assert page.locator("b", has_text="run").count() == 0
    assert page.locator("img").count() == 0
    page.get_by_role("button", name=PROBLEMS[0]).first.click()
    shown = page.locator("#problems").inner_text()
    assert "<script>document.title='owned'</script> </script><img src=x onerror=alert(1)>" in shown
    assert "?gnp.exe? ?[31mred?[0m &lt;b&gt; {{style}} ]]> 'quoted'" in shown
    assert "(cut here; 100000 bytes in the record)" in shown
    assert "<img src=x onerror=alert(2)>" in page.locator("#environment").inner_text()


def test_nothing_but_its_own_scripts_runs(two_runs, visit):
    path = two_runs[1]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', path.read_text()).group(1)
    assert policy.startswith("default-src 'none';")
    scripts = re.search(r"script-src ([^;]*)", policy).group(1).split()
    assert len(scripts) == 2
    assert all(source.startswith("'sha256-") for source in scripts)
    assert not re.search(r"\b(src|href)=\"?https?:", path.read_text().split('id="data"')[0])
    page = visit(path)
    violations = page.evaluate(
        """() => new Promise((resolve) => {
             document.addEventListener("securitypolicyviolation",
                                       (event) => resolve(event.effectiveDirective));
             const script = document.createElement("script");
             script.textContent = "document.title = 'owned'";
             document.body.append(script);
           })"""
    )
    assert violations.startswith("script-src")
    assert page.title() == "pkbench: first, second"
    assert "Content Security Policy" in visit.complaints.pop()


# ---- little to show ----


def test_records_of_the_cpu_are_marked(tmp_path, visit):
    records = [record(name, 0, "CORRECT", device="cpu") for name in PROBLEMS]
    page = visit(report(tmp_path / "page.html", write(tmp_path / "run.jsonl", records)))
    assert "Screened on cpu" in page.inner_text("#marks")
    assert "nothing is known of speed" in page.inner_text("#thresholds")
    assert "fast" not in page.inner_text("#summary .tiles")
    assert page.locator("#thresholds svg").count() == 0
    assert page.locator("#floor").is_hidden()
    assert "is faster" not in page.inner_text("#funnel")


def test_nothing_right_nothing_fast(tmp_path, visit):
    records = [record(problem_name(number), 0, "CRASH") for number in range(1, 6)]
    page = visit(report(tmp_path / "page.html", write(tmp_path / "run.jsonl", records)))
    assert "No attempt that is right was timed" in page.inner_text("#thresholds")
    assert page.inner_text("#summary .tile .value >> nth=0") == "0.0 %"
    assert NOTHING in page.inner_text("#summary .tiles")
    assert page.locator("#compare").is_hidden()


def test_one_attempt(tmp_path, visit):
    entry = record(PROBLEMS[0], sizes=[timed(name, 3.0, 100) for name in ("tiny", "pkb", "large")])
    page = visit(report(tmp_path / "page.html", write(tmp_path / "run.jsonl", [entry])))
    assert page.inner_text("#summary .tile .value >> nth=0") == "100.0 %"
    assert page.locator("#summary .interval").count() == 0
    assert "NaN" not in page.inner_text("body")


def test_runs_that_should_not_be_compared_are_shown_apart(tmp_path, visit):
    runs = [
        write(tmp_path / f"{name}.jsonl", [record(PROBLEMS[0], run=name, speedup=2.0, world=world)])
        for name, world in (("two", 2), ("four", 4))
    ]
    page = visit(report(tmp_path / "page.html", *runs))
    assert "worlds should not differ" in page.inner_text("#compare")
    assert page.inner_text("#summary .tile .value >> nth=0") == "100.0 %"


# ---- files ----


def hrefs(page) -> list[str]:
    return page.locator("#attempts tbody a").evaluate_all(
        "links => links.map((link) => link.getAttribute('href'))"
    )


@pytest.mark.parametrize("place", ["page.html", "run #1 100%/page.html", "else/where/page.html"])
def test_links_lead_to_sources_and_logs(tmp_path, visit, place):
    folder = make_run(tmp_path / "run #1 100%", "model", PROBLEMS[:1], 3, has_sources=True)
    first = json.loads(next((folder / "results").iterdir()).open().readline())
    log = folder / "logs" / first["judgement"] / "rank0.txt"
    log.parent.mkdir(parents=True)
    log.write_text("said\n")
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    path = report(tmp_path / place, folder)
    links = hrefs(visit(path))
    assert len(links) == 4
    assert all(link.startswith(("./", "../")) for link in links)
    found = sorted((path.parent / unquote(link)).resolve() for link in links)
    assert found == sorted([*(folder / "samples").rglob("*.cu"), log])


def test_any_name_of_a_log_is_a_link(tmp_path, visit):
    folder = make_run(tmp_path / "run", "model", PROBLEMS[:1], 1, has_sources=True)
    first = json.loads(next((folder / "results").iterdir()).open().readline())
    logs = folder / "logs" / first["judgement"]
    logs.mkdir(parents=True)
    for name in (b"%E0%A4%A.txt", b"\xff.txt", b"\x1b[31m.txt", "\u202egnp.txt".encode()):
        (Path(os.fsdecode(logs)) / os.fsdecode(name)).write_text("said\n")
    page = visit(report(tmp_path / "page.html", folder))
    names = page.locator("#attempts tbody a").all_inner_texts()
    assert sorted(names) == ["%E0%A4%A.txt", "%FF.txt", "?[31m.txt", "?gnp.txt", "source"]
    assert all(link.startswith("./run/") for link in hrefs(page))


def test_sources_are_embedded_where_that_is_asked_for(tmp_path, visit):
    folder = make_run(tmp_path / "run", "model", PROBLEMS[:1], 2, has_sources=True)
    source = folder / "samples" / PROBLEMS[0]
    data = data_of(report(tmp_path / "without.html", folder))
    assert data["runs"][0]["attempts"]["sources"] == []
    (source / "1.cu").write_text("// changed after the verdict\n")
    path = report(tmp_path / "with.html", folder, "--embed-source")
    assert data_of(path)["runs"][0]["attempts"]["changed_sources"] == 1
    page = visit(path)
    for button in page.locator("#attempts .open").all():
        button.click()
    assert page.locator("#attempts pre").all_inner_texts() == [f"// model {PROBLEMS[0]} 0\n"]
    assert "1 source changed since the verdict" in page.inner_text("#attempts")


def test_a_damaged_line_marks_the_page(tmp_path, visit):
    lines = [record(PROBLEMS[0], 0, "CRASH", reason="the one that is whole"), '{"schema": 1, "id']
    path = report(tmp_path / "page.html", write(tmp_path / "run.jsonl", lines), status=INCOMPLETE)
    page = visit(path)
    assert "INCOMPLETE" in page.inner_text("#marks")
    assert "1 line no record" in page.inner_text("#marks")
    assert "is no record" in page.inner_text("#environment")


def test_sizes_of_a_grid_and_unstable_times_are_shown(tmp_path, visit):
    sizes = [timed(name, 2.0, 2e6) for name in ("tiny", "pkb", "large")]
    sizes[1]["grid"] = "cp1xtp2"
    sizes[1]["speedup"]["eager"]["unstable"] = True
    sizes[2] = size_of("large", "CORRECT", 2.0)  # without its times
    path = report(
        tmp_path / "page.html", write(tmp_path / "run.jsonl", [record(PROBLEMS[0], sizes=sizes)])
    )
    page = visit(path)
    page.locator("#attempts .open").first.click()
    inner = page.locator("#attempts tr.inner").inner_text()
    assert "pkb cp1xtp2" in inner
    assert "unstable" in inner
    assert "2.00 s" in inner
