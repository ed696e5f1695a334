# SPDX-License-Identifier: Apache-2.0
"""The kernels by which a judge compares on GPUs, run on the CPU device."""

import pytest

from tests.conformance.test_conformance import CPURUN, HERE, ROOT, run


@pytest.mark.skipif(not CPURUN.exists(), reason="build/pkbench-cpurun is not built")
def test_judge_kernels(monkeypatch):
    monkeypatch.setenv("NVCC_PREPEND_FLAGS", f"-I{ROOT}")
    results, output = run(HERE / "judge_kernels.cu")
    assert list(results.values()) == [""] * 3, output[-4000:]
