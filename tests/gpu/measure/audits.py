# SPDX-License-Identifier: Apache-2.0
"""`pkbench audit` and its calibration, of all problems, some problems a call, so that what is
done by the end of the budget is there.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from tests.e2e.command import PKBENCH, ROOT
from tests.gpu.measure.bench import Bench, table

SIDE_BY_SIDE = 3  # worlds that share the GPUs; most of the time Python is at work
CALLS_EACH = 3
FAILED = 3
PROBLEMS = sorted((ROOT / "problems").glob("[0-9]*.json"))


def audit(bench: Bench) -> str:
    return run_all(bench, "audit", [])


def calibrate(bench: Bench) -> str:
    """Changes the problem files; those that changed lie beside the records, in problems/."""
    before = {path: path.read_bytes() for path in PROBLEMS}
    writes = ["--write"] if bench.is_gpu else []  # a trial must not touch what is stored
    options = ["--calibrate", *writes, "--sizes", "tiny,pkb" if bench.is_gpu else "tiny"]
    text = run_all(bench, "calibrate", options)
    changed = [path for path in PROBLEMS if path.read_bytes() != before[path]]
    kept = bench.out / "problems"
    kept.mkdir(exist_ok=True)
    for path in changed:
        shutil.copy(path, kept)
    return text + f"{len(changed)} problem files changed\n"


def run_all(bench: Bench, step: str, options: list[str]) -> str:
    workers = SIDE_BY_SIDE if bench.is_gpu else 1
    names = [path.stem for path in (PROBLEMS if bench.is_gpu else PROBLEMS[:2])]
    size = max(1, -(-len(names) // (workers * CALLS_EACH)))
    chunks = [names[at : at + size] for at in range(0, len(names), size)]
    with ThreadPoolExecutor(workers) as pool:
        answers = pool.map(lambda chunk: run_some(bench, step, options, chunk), chunks)
        found = [one for of_chunk in answers for one in of_chunk]
    done = {name for one in found if one["status"] in (0, 1) for name in one["problems"]}
    rows = [
        f"{' '.join(name[:3] for name in one['problems'])} | {one['status']} | {one['wall_s']:.0f}"
        f" | {one['faults'][:300]}"
        for one in found
    ]
    head = f"{step}: {len(done)} of {len(names)} problems\n"
    return head + table("problems | exit | wall s | what it says", rows)


def run_some(bench: Bench, step: str, options: list[str], names: list[str]) -> list[dict]:
    """One call, stored at once; where it failed as a whole, its problems one by one."""
    if bench.left_s() < 15:
        return [{"problems": names, "status": "no time left", "wall_s": 0.0, "faults": ""}]
    command = [PKBENCH, "audit", *options, "--device", bench.device, "-n", "2", "--json", *names]
    begin = time.monotonic()
    said = bench.out / f"{step}_{names[0][:3]}.said"
    found = bench.scratch / f"{names[0]}.json"
    with said.open("w") as errors, found.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=errors, start_new_session=True)
        status = wait(process, bench.left_s() - 10)
    answer = {"problems": names, "status": status, "wall_s": round(time.monotonic() - begin, 1)}
    answer["faults"] = faults_in(said)
    if found.stat().st_size > 0:
        answer["found"] = json.loads(found.read_text(), parse_constant=str)
    bench.store(step, [answer])
    if status == FAILED and len(names) > 1:
        alone = [run_some(bench, step, options, [name]) for name in names]
        return [one for answers in alone for one in answers]
    return [answer]


def wait(process: subprocess.Popen, limit_s: float) -> int | str:
    """Its status, or that it was cut off; nothing of it is left."""
    status: int | str = "cut off"
    with suppress(subprocess.TimeoutExpired):
        status = process.wait(limit_s)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)  # it ends its ranks
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return status


def faults_in(said: Path) -> str:
    """The last sentences beside tables and what is under way; of a failure what failed."""
    lines = [line.strip() for line in said.read_text(errors="replace").splitlines()]
    faults = [line for line in lines if ": " in line and not line.startswith("|")]
    return " / ".join(faults[-3:]).replace("|", "/")
