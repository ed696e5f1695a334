# SPDX-License-Identifier: Apache-2.0
"""The whole zoo on two GPUs."""

from pathlib import Path

import pytest

from tests.gpu.measure.bench import Bench
from tests.gpu.measure.zoo import LEFT_OUT, ZOO, judge_all

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not Path("/dev/nvidia1").exists(), reason="fewer than two GPUs here"),
    pytest.mark.timeout(400),
]


def test_every_attempt_gets_its_verdict(tmp_path):
    found = judge_all(Bench("cuda", tmp_path, 390))
    assert {one["file"] for one in found} == {source.stem for source in ZOO} - LEFT_OUT
    wrong = [one for one in found if not one["verdict_holds"]]
    assert wrong == []
