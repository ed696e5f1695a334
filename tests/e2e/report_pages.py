# SPDX-License-Identifier: Apache-2.0
"""Pages of `pkbench report` for tests of them."""

import json
from pathlib import Path

import pytest

from tests.e2e.command import ROOT, pkbench
from tests.e2e.report_runs import make_run

INCOMPLETE = 6
PROBLEMS = ["001_allreduce", "008_alltoall", "013_gemm_allreduce", "031_fused_moe_fwd"]
LIBRARY = ROOT / "build" / "share" / "echarts.min.js"
needs_library = pytest.mark.skipif(
    not LIBRARY.exists(), reason="set-up could not fetch ECharts (no network?)"
)


def report(path: Path, *arguments, status: int = 0) -> Path:
    answer = pkbench("report", *arguments, "-o", path)
    assert answer.status == status, answer.err
    return path


def data_of(page: Path) -> dict:
    """What the page carries, read as a browser would: up to the first end of a script."""
    text = page.read_text()
    start = text.index('id="data">') + len('id="data">')
    return json.loads(text[start : text.index("</script>", start)])


def refusal(*arguments, status: int = 2, **options) -> str:
    answer = pkbench("report", *arguments, **options)
    assert answer.status == status, (answer.out, answer.err)
    return answer.err


def make_two(folder: Path) -> tuple[list[Path], Path]:
    """Folders of two runs and the page about both."""
    runs = [
        make_run(folder / name, name, PROBLEMS, 10, seed=seed, has_sources=True)
        for name, seed in (("first", 3), ("second", 5))
    ]
    return runs, report(folder / "report.html", *runs)
