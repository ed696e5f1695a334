# SPDX-License-Identifier: Apache-2.0
"""The examples are correct in every small world: one run for each world judges them all."""

import pytest

from tests.e2e.command import ROOT, judge
from tests.e2e.folder import FolderRun, wanted

EXAMPLES = sorted((ROOT / "examples").glob("*.cu"))


@pytest.fixture(scope="module", params=[2, 4, 8], ids=lambda world: f"P{world}")
def run(request):
    """The run of one world over those examples that are asked for."""
    asked = [one["source"] for one in wanted(request, "run") if one["run"] == request.param]
    options = ("-n", request.param, "--problems", ",".join(source.stem[:3] for source in asked))
    with FolderRun(ROOT / "examples", *options) as started:
        yield started


@pytest.mark.timeout(300)
@pytest.mark.parametrize("source", EXAMPLES, ids=lambda source: source.stem)
def test_is_correct_at_tiny(request, run, source):
    record = run.record(source)
    assert record["verdict"] == "CORRECT", f"{record}\n{run.said()}"
    assert record["problem"] == source.stem
    assert record["world"] == request.node.callspec.params["run"]
    assert record["sizes"]
    assert all(size["class"] == "tiny" for size in record["sizes"])


def test_is_correct_at_the_published_size_and_shows_times():
    answer = judge(ROOT / "examples" / "001_allreduce.cu", "--sizes", "pkb")
    record = answer.record
    assert record["verdict"] == "CORRECT", f"{record}\n{answer.err}"
    assert answer.status == 0
    (size,) = record["sizes"]
    assert size["time_us"]["attempt"] > 0
    assert size["time_us"]["eager"] > 0
