# SPDX-License-Identifier: Apache-2.0
"""Sixty attempts, right and wrong, in one `pkbench eval DIR`: seconds of each beyond the first, and
where they go.
"""

import json
import shutil
import subprocess
from pathlib import Path

from tests.e2e.command import PKBENCH
from tests.gpu.measure.bench import Bench, slim, table
from tests.gpu.measure.whole import COSTS, watch_lines
from tests.soak import corpus

COUNT = 60
KINDS = ("last_element", "changes_input", "does_not_compile")
HEAD = f"attempts | n | wall s each | {' | '.join(COSTS)} | between"


def chosen() -> list[corpus.Attempt]:
    """All examples, then as many of their variants as fit, kind by kind."""
    broken = corpus.broken()
    by_kind = [one for kind in KINDS for one in broken if one.name == f"variant_{kind}.cu"]
    return [*corpus.honest(), *by_kind][:COUNT]


def measure(bench: Bench) -> str:
    run, path = bench.scratch / "run", bench.scratch / "records"
    corpus.write(run, chosen() if bench.is_gpu else chosen()[::10], with_noise=False)
    command = [PKBENCH, "eval", run, "--device", bench.device, "-o", path]
    command += ["--sizes", "all" if bench.is_gpu else "tiny"]
    with (bench.out / "sixty.said").open("w") as said:
        arrivals = watch_lines(subprocess.Popen(command, stderr=said), path, bench)
    records = read(path, arrivals)
    for record in records:
        kept = {key: record[key] for key in ("problem", "source", "wall_s")}
        bench.store("sixty", [{**kept, **slim(record)}])
    shutil.rmtree(run)
    path.unlink()
    return cost_table(records)


def read(path: Path, arrivals: list[float]) -> list[dict]:
    """Records with `wall_s`: since the one before."""
    records, before_s = [], 0.0
    for line, at_s in zip(path.read_text().splitlines(), arrivals, strict=True):
        records.append({**json.loads(line), "wall_s": round(at_s - before_s, 3)})
        before_s = at_s
    return records


# ---- the table ----


def cost_table(records: list[dict]) -> str:
    """Means: of the first, of all others, of those by what they are and whether their problem was
    there before."""
    if not records:
        return "no record came\n"
    first, *others = records
    groups = {"the first": [first], "all others": others}
    for name, is_new in (("first of its problem", True), ("later of its problem", False)):
        groups[name] = [
            record
            for before, record in zip(records, others, strict=False)
            if (before["problem"] != record["problem"]) == is_new
        ]
    for record in others:
        groups.setdefault(record["verdict"], []).append(record)
    return table(HEAD, [row(name, found) for name, found in groups.items() if found])


def row(name: str, records: list[dict]) -> str:
    """`between`: wall time that no part names."""

    def mean(values) -> float:
        return sum(values) / len(records)

    wall_s = mean(record["wall_s"] for record in records)
    parts = [mean(record.get("cost_s", {}).get(part, 0) for record in records) for part in COSTS]
    numbers = [wall_s, *parts, wall_s - sum(parts)]
    return f"{name} | {len(records)} | " + " | ".join(
        f"{round(number, 2) + 0.0:.2f}"  # without -0.00
        for number in numbers
    )
