# SPDX-License-Identifier: Apache-2.0
"""Pages of `pkbench report` in other colours, on a phone and on paper."""

import re

import pytest

from tests.e2e.report_pages import needs_library

pytestmark = needs_library


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
