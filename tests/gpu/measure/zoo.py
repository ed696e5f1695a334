# SPDX-License-Identifier: Apache-2.0
"""Every attempt of tests/zoo on two GPUs, by `pkbench eval DIR`: a command for each would take
minutes.
"""

import json
import re
import shutil
import signal
import subprocess
from pathlib import Path

from tests.e2e.command import PKBENCH
from tests.e2e.test_zoo import ZOO, demands
from tests.gpu.measure.bench import Bench, slim, table

# What the CPU device lacks, a GPU has. Multicast is refused when an attempt is built, alike for all
# devices; no machine of others' is put at risk to see it again.
LEFT_OUT = {"001_unsupported_instruction", "001_names_multicast", "001_reduces_by_multimem"}
LIMIT_S = 6  # the longest that a file asks for
# The CPU device knows kernel, thread and line of a fault; a GPU's driver tells only the error.
REASONS = {
    "001_asserts": r"rank \d.*assert",
    "001_hangs_in_kernel": r"rank \d.*(did not end|not finish|still running)",
    "001_wild_pointer": r"rank \d.*(illegal|address)",
    "001_waits_for_lost_signal": r"rank \d",
    "001_one_rank_waits_once_more": r"rank \d",
    "001_host_dereference": r"rank \d.*SIGSEGV",
    "001_bad_launch": r"rank \d.*pkb_run returned 1",
}


def judge_all(bench: Bench) -> list[dict]:
    """A row for each file: wanted and got. Problem 1 has most and comes last."""
    found = []
    sources = [source for source in ZOO if source.stem not in LEFT_OUT]
    for is_first in (False, True):
        found += judge_some(bench, [s for s in sources if (s.stem[:3] == "001") == is_first])
    return found


def judge_some(bench: Bench, sources: list[Path]) -> list[dict]:
    folder = bench.scratch / "run"
    for source in sources:
        place = folder / f"{source.stem[:3]}_zoo"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, place)
    by_name = {source.name: source for source in sources}
    records = judge_folder(bench, folder, bench.left_s())
    return [row(by_name[record["source"]], record) for record in records]


def judge_folder(bench: Bench, folder: Path, most_s: float) -> list[dict]:
    """The records of all in a folder, which is removed, or of those judged by then."""
    path = bench.scratch / "records"
    command = [PKBENCH, "eval", folder, "--device", bench.device, "--sizes", "tiny", "-o", path]
    command += ["--no-timing", "--timeout", str(LIMIT_S)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        process.wait(timeout=max(1.0, most_s - 2))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # what was judged by then is stored
        process.wait(timeout=20)
    lines = path.read_text().splitlines() if path.exists() else []
    shutil.rmtree(folder)
    path.unlink(missing_ok=True)
    return [json.loads(line) for line in lines]


def row(source: Path, record: dict) -> dict:
    demand, reason = demands(source), record.get("reason", "")
    wanted = REASONS.get(source.stem, demand["reason"])
    return {
        "file": source.stem,
        "wanted": demand["verdict"],
        "verdict_holds": bool(re.fullmatch(demand["verdict"], record["verdict"])),
        "reason_holds": bool(re.search(wanted, reason, re.S)),
        **slim(record),
    }


def measure(bench: Bench) -> str:
    found = judge_all(bench)
    bench.store("zoo", found)
    wrong = [one for one in found if not one["verdict_holds"]]
    other = [one for one in found if one["verdict_holds"] and not one["reason_holds"]]
    planned = [source for source in ZOO if source.stem not in LEFT_OUT]
    lines = [
        f"zoo: {len(found)} of {len(planned)} judged, {len(found) - len(wrong)} with their verdict,"
        f" {sum(one.get('cost_s', {}).get('total', 0) for one in found):.0f} s"
    ]
    rows = [
        f"{one['file']} | {one['wanted']} | {one['verdict']} | {one.get('reason', '')[:160]}"
        for one in wrong + other
    ]
    return "\n".join(lines) + "\n" + (table("file | wanted | got | reason", rows) if rows else "")
