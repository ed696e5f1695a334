# SPDX-License-Identifier: Apache-2.0
"""Every attempt of tests/zoo on two GPUs. Judges stay alive over all attempts of a problem: a
command for each would take minutes.
"""

import json
import re
import shlex
import time
from pathlib import Path

from tests.e2e.command import ROOT, pkbench
from tests.e2e.test_zoo import ZOO, demands
from tests.gpu.measure.bench import Bench, Build, slim, table
from tests.gpu.measure.world import World

# What the CPU device lacks, a GPU has. Multicast is refused when an attempt is built, alike for all
# devices; no machine of others' is put at risk to see it again.
LEFT_OUT = {"001_unsupported_instruction", "001_names_multicast", "001_reduces_by_multimem"}
# nvcc itself refuses it, so there is nothing to hand to a judge.
NOT_BUILT = {"001_does_not_compile"}
DEFAULT_LIMIT_S = 5
# The CPU device knows kernel, thread and line of a fault; a GPU's driver tells only the error.
REASONS = {
    "001_asserts": r"rank \d.*assert",
    "001_hangs_in_kernel": r"rank \d.*(did not end|not finish|still running)",
    "001_wild_pointer": r"rank \d.*(illegal|address)",
    "001_waits_for_lost_signal": r"rank \d",
    "001_one_rank_waits_once_more": r"rank \d",
    "001_host_dereference": r"rank \d.*SIGSEGV",
    "001_bad_launch": r"rank \d.*pkb_run returned 9",
}


def limit_s(source: Path) -> float:
    """The --timeout that its first lines ask for."""
    words = shlex.split(demands(source).get("options", ""))
    return float(words[words.index("--timeout") + 1]) if "--timeout" in words else DEFAULT_LIMIT_S


def judge_all(bench: Bench) -> list[dict]:
    """A row for each file: wanted and got."""
    found = []
    for source in ZOO:
        if source.stem in NOT_BUILT:
            answer = pkbench("eval", source, "--device", bench.device, "--sizes", "tiny", "--json")
            found.append(row(source, {"sizes": [], **json.loads(answer.out)}, 0.0))
    sources = [source for source in ZOO if source.stem not in LEFT_OUT | NOT_BUILT]
    for number in sorted({source.stem[:3] for source in sources}):
        found += judge_problem(bench, [s for s in sources if s.stem.startswith(number)])
    return found


def judge_problem(bench: Bench, sources: list[Path]) -> list[dict]:
    (example,) = (ROOT / "examples").glob(f"{sources[0].stem[:3]}_*.cu")
    header = bench.problem_header(example)
    built = bench.build_all([Build(source.stem, source, (), header) for source in sources])
    found = []
    with World(bench, example.stem, "tiny") as world:
        for source in sources:
            if bench.left_s() < 5:
                break
            begin = time.monotonic()
            event = world.judge(built[source.stem], "tiny", False, timeouts=[limit_s(source)])
            found.append(row(source, event, time.monotonic() - begin))
    return found


def row(source: Path, event: dict, seconds: float) -> dict:
    demand, reason = demands(source), event.get("reason", "")
    wanted = REASONS.get(source.stem, demand["reason"])
    return {
        "file": source.stem,
        "wanted": demand["verdict"],
        "verdict_holds": bool(re.fullmatch(demand["verdict"], event["verdict"])),
        "reason_holds": bool(re.search(wanted, reason, re.S)),
        "wall_s": round(seconds, 2),
        **slim(event),
    }


def measure(bench: Bench) -> str:
    found = judge_all(bench)
    bench.store("zoo", found)
    wrong = [one for one in found if not one["verdict_holds"]]
    other = [one for one in found if one["verdict_holds"] and not one["reason_holds"]]
    planned = [source for source in ZOO if source.stem not in LEFT_OUT]
    lines = [
        f"zoo: {len(found)} of {len(planned)} judged, {len(found) - len(wrong)} with their verdict,"
        f" {sum(one['wall_s'] for one in found):.0f} s"
    ]
    rows = [
        f"{one['file']} | {one['wanted']} | {one['verdict']} | {one.get('reason', '')[:160]}"
        for one in wrong + other
    ]
    return "\n".join(lines) + "\n" + (table("file | wanted | got | reason", rows) if rows else "")
