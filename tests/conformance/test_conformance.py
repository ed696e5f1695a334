# SPDX-License-Identifier: Apache-2.0
"""Compiles each NN_name.cu for the CPU device, runs it, and reports each of its cases.

Two programs are built and run at a time; a program that hangs is killed with its processes and
the cases it has not reported fail.
"""

import os
import re
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CPURUN = Path(os.environ.get("PKB_BUILD", ROOT / "build")) / "pkbench-cpurun"
LIMIT_S = 180
WORKERS = 2


def cases():
    for source in sorted(HERE.glob("[0-9][0-9]_*.cu")):
        for name in re.findall(r"CASE\((\w+)\)", source.read_text().rpartition("MAIN(")[2]):
            yield source, name


def run(source):
    """Case name -> "" or what went wrong; and the whole output."""
    process = subprocess.Popen(
        [CPURUN, source],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        output += f"\nkilled after {LIMIT_S} s\n"
    results = {}
    for name, reason in re.findall(r"^FAIL (\w+): (.*)$", output, re.M):
        results.setdefault(name, reason)
    for name in re.findall(r"^PASS (\w+)$", output, re.M):
        results.setdefault(name, "")
    return results, output


@pytest.fixture(scope="session")
def outcomes(request):
    """Source -> future of run(source), for the sources that this session's tests need."""
    wanted = sorted(
        {
            item.callspec.params["source"]
            for item in request.session.items
            if item.path == Path(__file__) and hasattr(item, "callspec")
        }
    )
    with ThreadPoolExecutor(WORKERS) as pool:
        yield {source: pool.submit(run, source) for source in wanted}


@pytest.mark.skipif(not CPURUN.exists(), reason="build/pkbench-cpurun is not built")
@pytest.mark.parametrize(
    ("source", "name"), [pytest.param(s, n, id=f"{s.stem}-{n}") for s, n in cases()]
)
def test_case(outcomes, source, name):
    results, output = outcomes[source].result()
    reason = results.get(name, "not reported")
    assert reason == "", f"{name}: {reason}\n{output[-4000:]}"
