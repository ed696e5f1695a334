# SPDX-License-Identifier: Apache-2.0
"""The C tests that need GPUs; `make test-gpu` builds them."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "build" / "tests" / "gpu"

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not Path("/dev/nvidiactl").exists(), reason="no NVIDIA GPU here"),
]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name", ["test_vmm", "test_cuda_cell", "test_cuda_sizes", "test_judge_device"]
)
def test_program(name):
    program = PROGRAMS / name
    if not program.exists():
        pytest.skip(f"{name} is not built: make test-gpu")
    done = subprocess.run([program], cwd=ROOT, capture_output=True, text=True, timeout=280)
    print(done.stdout, done.stderr)
    assert done.returncode == 0
