# SPDX-License-Identifier: Apache-2.0
"""Worlds of one GPU each, side by side: what a busy neighbour does to what the clock reads, and how
much sooner a folder is judged. The attempts make the very calls that the reference makes.
"""

import json
import os
import shutil
import statistics
import subprocess
from dataclasses import replace
from pathlib import Path

from tests.e2e.command import PKBENCH, ROOT
from tests.gpu.measure.bench import COPIES, COPIES_ATTEMPT, Bench, slim, spread, table
from tests.gpu.measure.whole import watch_lines

SIZES = ("short", "copies")
EACH = 6  # attempts of a world
GPUS = 2
MODES = {
    "alone": ("--gpus", "0"),
    "apart": ("--gpus", "0-1", "--timing", "apart"),
    "turns": ("--gpus", "0-1", "--timing", "turns"),
}
ON_CPU = {
    "alone": ("--worlds", "1"),
    "apart": ("--worlds", "2", "--timing", "apart"),
    "turns": ("--worlds", "2", "--timing", "turns"),
}
HEAD = (
    "worlds | size | n | wall s, s an attempt | speed-up min | median | max | range | within 1 %"
    " | unstable | attempt µs | eager µs | waited s"
)


def measure(bench: Bench) -> str:
    root = project_with_copies(bench)
    rows = []
    for place, mode in enumerate(MODES):
        share_s = bench.left_s() / (len(MODES) - place)
        until = replace(bench, budget_s=bench.budget_s - bench.left_s() + share_s)
        rows += mode_rows(mode, judge_all(until, root, mode), is_gpu=bench.is_gpu)
    shutil.rmtree(bench.scratch)
    return table(HEAD, rows)


def project_with_copies(bench: Bench) -> Path:
    """A project whose only problem is the copies; its runners find it from where they are."""
    root = bench.scratch / "project"
    shutil.copytree(ROOT / "harness", root / "harness")
    for folder in ("problems", "references"):
        (root / folder).mkdir()
    shutil.copy(COPIES, root / "problems")
    shutil.copy(COPIES.parents[1] / "references" / f"{COPIES.stem}.py", root / "references")
    for name in ("base", "build", "tools", ".venv"):
        if (ROOT / name).exists():
            (root / name).symlink_to(ROOT / name)
    return root


def judge_all(bench: Bench, root: Path, mode: str) -> list[dict]:
    """The records of one mode, with `wall_s` since its start. A compiler has all to do: the copies
    differ by a comment, between modes too."""
    run, path = bench.scratch / mode, bench.scratch / f"{mode}.records"
    samples = run / "samples" / COPIES.stem
    samples.mkdir(parents=True)
    options = (MODES if bench.is_gpu else ON_CPU)[mode]
    worlds = 1 if mode == "alone" else GPUS
    for k in range((EACH if bench.is_gpu else 1) * worlds):
        (samples / f"{k}.cu").write_text(COPIES_ATTEMPT.read_text() + f"/* {mode} {k} */\n")
    command = [PKBENCH, "eval", run, "-n", "1", "--device", bench.device, "-o", path, *options]
    command += ["--sizes", ",".join(SIZES) if bench.is_gpu else "tiny"]
    environment = {
        **os.environ,
        "PKBENCH_ROOT": str(root),
        "PKBENCH_CACHE": str(bench.scratch / "cache"),
    }
    with (bench.out / f"worlds_{mode}.said").open("w") as said:
        process = subprocess.Popen(command, stderr=said, env=environment)
        arrivals = watch_lines(process, path, bench)
    lines = path.read_text().splitlines() if path.exists() else []
    records = []
    for line, at_s in zip(lines, arrivals, strict=False):
        record = json.loads(line)
        flags = {key: record["flags"].get(key) for key in ("neighbours",)}
        kept = {"mode": mode, "sample": record["sample"], **flags, "wall_s": round(at_s, 3)}
        records.append({**kept, **slim(record, keeps_batches=True)})
    bench.store("worlds", records)
    return records


def mode_rows(mode: str, records: list[dict], is_gpu: bool) -> list[str]:
    if not records:
        return [f"{mode} | | 0 | " + " | " * 9]
    wall_s = max(record["wall_s"] for record in records)
    wall = f"{wall_s:.1f}, {wall_s / len(records):.1f}"
    bad = [record for record in records if record["verdict"] != "CORRECT"]
    rows = [f"{mode} | {one['verdict']}: {one.get('reason', '')[:90]}" + " |" * 11 for one in bad]
    for size in SIZES if is_gpu else ("tiny",):
        found = [one for record in records for one in record["sizes"] if one["size"] == size]
        timed = [one for one in found if one.get("speedup")]
        told = size_columns(timed) if timed else " | " * 8
        rows.append(f"{mode} | {size} | {len(timed)} | {wall} | {told}")
    return rows


def size_columns(sizes: list[dict]) -> str:
    read = [one["speedup"]["eager"] for one in sizes]
    values = [one["value"] for one in read]
    near = sum(abs(value - 1) <= 0.01 for value in values)
    unstable = sum(bool(one.get("unstable")) for one in read)
    us = [statistics.median(one["time_us"][side] for one in sizes) for side in ("attempt", "eager")]
    waited_s = sum(one.get("cost_s", {}).get("wait", 0) for one in sizes)
    return f"{spread(values)} | {near} | {unstable} | {us[0]:.1f} | {us[1]:.1f} | {waited_s:.1f}"
