# SPDX-License-Identifier: Apache-2.0
"""The whole zoo on two GPUs. Judges stay alive over all attempts of a problem: a command for each
would take minutes.
"""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.command import ROOT, pkbench
from tests.e2e.judges import Judges
from tests.e2e.test_zoo import ZOO, demands

# What building refuses is no matter of a device; what the CPU device lacks, a GPU has.
LEFT_OUT = {
    "001_does_not_compile",
    "001_names_multicast",
    "001_reduces_by_multimem",
    "001_unsupported_instruction",
}
SOURCES = [source for source in ZOO if source.stem not in LEFT_OUT]

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not Path("/dev/nvidia1").exists(), reason="fewer than two GPUs here"),
    pytest.mark.timeout(200),
]


def of_problem(number: str) -> list[Path]:
    return [source for source in SOURCES if source.stem.startswith(number)]


def runtime_library() -> Path:
    """libcudart.so.13 of the toolkit in use."""
    script = ROOT / "tools" / "find_nvcc.sh"
    done = subprocess.run([script, "--include"], capture_output=True, text=True, check=True)
    above = Path(done.stdout.strip()).parent
    for folder in ("lib64", "lib", "targets/x86_64-linux/lib"):
        if (above / folder / "libcudart.so.13").exists():
            return above / folder / "libcudart.so.13"
    raise FileNotFoundError(f"no libcudart.so.13 below {above}")


def compile_one(source: Path, headers: Path, library: Path) -> Path:
    nvcc = subprocess.check_output([ROOT / "tools" / "find_nvcc.sh"], text=True).strip()
    built = headers / f"{source.stem}.so"
    command = [nvcc, "-std=c++17", "-O3", "-lineinfo", "-arch=native", "-cudart", "none"]
    command += ["-cudadevrt", "none", "-shared", "-Xcompiler", "-fPIC", f"-I{headers}"]
    command += [f"-I{ROOT}/harness/include", "-Xlinker", str(library), str(source)]
    subprocess.run([*command, "-o", built], check=True, capture_output=True, timeout=100)
    return built


@pytest.mark.parametrize("number", sorted({source.stem[:3] for source in SOURCES}))
def test_every_attempt_gets_its_verdict(number, tmp_path):
    (example,) = (ROOT / "examples").glob(f"{number}_*.cu")
    kept = tmp_path / "kept"  # with problem.h
    pkbench(
        *("eval", example, "--device", "cuda", "--sizes", "tiny", "--no-timing", "--keep", kept)
    )
    library, sources = runtime_library(), of_problem(number)
    with ThreadPoolExecutor(min(16, os.cpu_count() or 1)) as pool:
        built = list(pool.map(lambda source: compile_one(source, kept, library), sources))
    wrong = []
    with Judges(example.stem, 2, device=("cuda", "--cudart", str(library))) as judges:
        judges.open()
        for source, attempt in zip(sources, built, strict=True):
            verdict = judges.attempt(attempt, sizes=["tiny"], time=False)
            if not re.fullmatch(demands(source)["verdict"], verdict["verdict"]):
                wrong.append((source.stem, verdict["verdict"], verdict.get("reason")))
    assert not wrong
