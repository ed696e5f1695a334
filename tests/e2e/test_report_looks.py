# SPDX-License-Identifier: Apache-2.0
"""Pages of `pkbench report` in other colours, on a phone and on paper."""

import re

import pytest

from tests.e2e.report_pages import PROBLEMS, needs_library, report
from tests.e2e.report_runs import make_run

pytestmark = needs_library

LONG_RUN = "moonshot-v2-2026-instruct_temperature0.7_feedback-none"
LONG_PROBLEM = "018_rms_norm_of_columns_that_are_spread"

# Where lines of text end without a space, as [before, after].
BREAKS = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let last = null;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest("script, style, pre, svg, select, noscript")) continue;
    for (let at = 0; at < node.data.length; at++) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const box = range.getClientRects()[0];
      if (!box || box.width === 0) continue;
      const before = at > 0 ? node.data[at - 1] : last && last.letter; // spaces at ends have no box
      const isNext = last && last.parent === node.parentElement && box.top > last.box.bottom - 2;
      if (isNext && !/\\s/.test(before)) found.push([before, node.data[at]]);
      last = { letter: node.data[at], box, parent: node.parentElement };
    }
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_colour_schemes(two_runs, visit, scheme):
    page = visit(two_runs[1], color_scheme=scheme)
    ink = "getComputedStyle(document.body).color"
    paper = "getComputedStyle(document.body).backgroundColor"
    light = [sum(map(int, re.findall(r"\d+", page.evaluate(one))[:3])) for one in (paper, ink)]
    assert (
        (light[0] > 600 > 200 > light[1])
        if scheme == "light"
        else (light[0] < 100 < 600 < light[1])
    )


@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_scrolls_down_only(two_runs, visit, width):
    page = visit(two_runs[1], viewport={"width": width, "height": 780})
    for button in page.locator("#problems .open, #attempts .open").all()[:6]:
        button.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    charts = page.locator(".chart svg").all()
    assert len(charts) >= 5
    assert all(chart.bounding_box()["width"] <= width for chart in charts)


def test_it_prints_on_white_without_controls(two_runs, visit):
    page = visit(two_runs[1], color_scheme="dark")
    page.emulate_media(media="print")
    page.wait_for_function("document.querySelector('#funnel svg')")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not any(box.is_visible() for box in page.locator(".controls").all())
    labels = page.locator("#funnel svg text").evaluate_all(
        "all => all.map(t => t.getAttribute('fill'))"
    )
    assert "#000000" in labels  # drawn anew in the colours of print
    boxes = [chart.bounding_box() for chart in page.locator(".chart > div:has(> svg)").all()]
    assert len(boxes) >= 5
    assert min(box["height"] for box in boxes) > 100
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 20_000


@pytest.mark.parametrize("width", [390, 320])
def test_names_break_between_their_words(tmp_path, visit, width):
    problems = [LONG_PROBLEM, *PROBLEMS]
    runs = [make_run(tmp_path / name, name, problems, 2) for name in (LONG_RUN, "short")]
    page = visit(report(tmp_path / "page.html", *runs), viewport={"width": width, "height": 780})
    for button in page.locator("#problems .open").all()[:2]:
        button.click()
    breaks = page.evaluate(BREAKS)
    assert ["_", "t"] in breaks  # a long name did break
    assert {before for before, _ in breaks} <= set("-_/\u2013")


def test_a_row_on_a_phone_opens_to_its_whole_reason(two_runs, visit):
    page = visit(two_runs[1], viewport={"width": 390, "height": 780})
    row = page.locator("#attempts tbody > tr", has_text="trial 2 of 3").first
    assert row.bounding_box()["height"] < 60
    row.locator(".open").click()
    box = page.locator("#attempts tr.inner p.text").bounding_box()
    assert 0 <= box["x"] < box["x"] + box["width"] <= 390


def test_the_name_of_a_row_stays_on_a_phone(two_runs, visit):
    page = visit(two_runs[1], viewport={"width": 320, "height": 780})
    table, name = page.locator("#problems .scroll").first, page.locator("#problems td.name").first
    before = name.bounding_box()["x"]
    table.evaluate("box => { box.scrollLeft = 100; }")
    assert table.evaluate("box => box.scrollLeft") == 100
    assert name.bounding_box()["x"] == before
