# SPDX-License-Identifier: Apache-2.0
"""The same wrong attempts judged again and again, alone and beside a process that keeps the GPUs
busy: each judging draws its inputs anew, and each has to end with the verdict that is demanded.
"""

import collections
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.command import ROOT
from tests.e2e.test_zoo import ZOO, demands
from tests.gpu.measure.bench import Bench, slim, table
from tests.gpu.measure.zoo import judge_folder

TIMES = 40
TIMES_ON_CPU = 3
# A file, and whether somebody else keeps the GPUs busy.
RUNS = (
    ("073_drops_small_gradients", False),
    ("073_drops_small_gradients", True),
    ("007_neighbours_slice", False),
    ("013_skips_a_rank", False),
)
HEAD = "file | beside | judged | demanded | verdicts | other reasons"


def measure(bench: Bench) -> str:
    by_name = {source.stem: source for source in ZOO}
    rows = []
    for place, (name, is_busy) in enumerate(RUNS):
        most_s = bench.left_s() / (len(RUNS) - place)
        records = judge_again(bench, by_name[name], is_busy, most_s)
        kept = {"file": name, "is_busy": is_busy}
        bench.store("again", [{**kept, **slim(record)} for record in records])
        rows.append(row(by_name[name], is_busy, records))
    return table(HEAD, rows)


def judge_again(bench: Bench, source: Path, is_busy: bool, most_s: float) -> list[dict]:
    """Copies that differ in a comment: of equal ones only the first is judged."""
    folder = bench.scratch / "run"
    place = folder / f"{source.stem[:3]}_again"
    place.mkdir(parents=True)
    for number in range(TIMES if bench.is_gpu else TIMES_ON_CPU):
        (place / f"{number}.cu").write_text(f"{source.read_text()}// {number}\n")
    if not is_busy:
        return judge_folder(bench, folder, most_s)
    with neighbour(bench.device):
        return judge_folder(bench, folder, most_s)


@contextmanager
def neighbour(device: str):
    command = [os.environ.get("PKBENCH_PYTHON", sys.executable), "-m", "tests.gpu.measure.busy"]
    pipe = subprocess.PIPE
    process = subprocess.Popen([*command, device], stdin=pipe, stdout=pipe, cwd=ROOT)
    try:
        if process.stdout.readline() != b"busy\n":
            raise RuntimeError("nothing keeps the GPUs busy: its message is above")
        yield
        if process.poll() is not None:
            raise RuntimeError("what kept the GPUs busy ended too early")
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait()


def row(source: Path, is_busy: bool, records: list[dict]) -> str:
    """Of verdicts that hold, reasons that do not are told; of all others theirs."""
    demand = demands(source)
    verdicts = collections.Counter(record["verdict"] for record in records)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    others = sorted(
        {
            record.get("reason", "").replace("|", "/")[:160]
            for record in records
            if not re.fullmatch(demand["verdict"], record["verdict"])
            or not re.search(demand["reason"], record.get("reason", ""), re.S)
        }
    )
    beside = "a busy process" if is_busy else "nothing"
    told = "; ".join(others)
    return f"{source.stem} | {beside} | {len(records)} | {demand['verdict']} | {counts} | {told}"
