# SPDX-License-Identifier: Apache-2.0
"""A browser that can reach nothing, and a page about two runs."""

import shutil
from pathlib import Path

import pytest

from tests.e2e.processes import HUNG_S
from tests.e2e.report_pages import make_two


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    return make_two(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def chromium():
    """One browser for the whole file."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no chromium here: tools/setup.sh browser installs it on Debian")
    api = pytest.importorskip("playwright.sync_api", reason="tools/setup.sh browser installs it")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Opens pages; at the end nothing may have been complained of or asked for."""
    contexts, complaints = [], []

    def turn_away(route):
        if route.request.url.startswith("file:"):
            route.continue_()
        else:
            complaints.append(f"asks for {route.request.url}")
            route.abort()

    def go(path: Path, **options):
        context = chromium.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        contexts.append(context)
        context.set_default_timeout(1000 * HUNG_S)
        context.route("**/*", turn_away)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-run]")
        page.wait_for_selector("#funnel svg")
        return page

    go.complaints = complaints
    yield go
    for context in contexts:
        context.close()
    assert complaints == []
