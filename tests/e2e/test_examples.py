# SPDX-License-Identifier: Apache-2.0
"""The examples are correct in every small world."""

import pytest

from tests.e2e.command import ROOT, judge

EXAMPLES = sorted((ROOT / "examples").glob("*.cu"))


@pytest.mark.parametrize("world", [2, 4, 8])
@pytest.mark.parametrize("source", EXAMPLES, ids=lambda source: source.stem)
def test_is_correct_at_tiny(source, world):
    answer = judge(source, "-n", world, "--sizes", "tiny", "--no-timing")
    record = answer.record
    assert record["verdict"] == "CORRECT", f"{record}\n{answer.err}"
    assert answer.status == 0
    assert record["world"] == world
    assert all(size["class"] == "tiny" for size in record["sizes"])


def test_is_correct_at_the_published_size_and_shows_times():
    answer = judge(ROOT / "examples" / "001_allreduce.cu", "--sizes", "pkb")
    record = answer.record
    assert record["verdict"] == "CORRECT", f"{record}\n{answer.err}"
    (size,) = record["sizes"]
    assert size["time_us"]["attempt"] > 0
    assert size["time_us"]["eager"] > 0
