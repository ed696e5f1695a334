# SPDX-License-Identifier: Apache-2.0
"""What an attempt may take of a GPU's memory and of pinned memory."""

import re
from pathlib import Path

import pytest

from tests.e2e.command import ROOT
from tests.gpu.test_eval import EXAMPLE, judge

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not Path("/dev/nvidia1").exists(), reason="fewer than two GPUs here"),
    pytest.mark.timeout(200),
]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("001_takes_all_memory", r"uses \d+ MiB of its GPU's memory in pkb_setup, the limit is"),
        ("001_pins_memory", r"uses \d+ MiB of memory in pkb_setup, the limit is"),
    ],
)
def test_memory_has_a_limit_and_nobody_else_is_hurt(name, words):
    source = ROOT / "tests" / "gpu" / "attempts" / f"{name}.cu"
    answer = judge(source, "--sizes", "tiny", "--no-timing")
    assert answer.record["verdict"] == "RESOURCE_LIMIT", answer.out + answer.err
    assert re.search(words, answer.record["reason"])
    assert answer.status == 1


def test_the_gpu_is_free_again_for_the_next():
    answer = judge(EXAMPLE, "--sizes", "tiny", "--no-timing")
    assert answer.record["verdict"] == "CORRECT", answer.out + answer.err
