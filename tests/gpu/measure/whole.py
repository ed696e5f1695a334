# SPDX-License-Identifier: Apache-2.0
"""One cold `pkbench eval` of every example at all sizes: wall time and where it goes, speed-ups,
and the GPU memory of judges and runners. And attempts that follow while the judges live.
"""

import json
import subprocess
import tempfile
import time

from tests.e2e.command import pkbench
from tests.gpu.measure.bench import Bench, Build, examples, slim, table
from tests.gpu.measure.memory import Sampler
from tests.gpu.measure.spread import NUMBERS
from tests.gpu.measure.world import World

COSTS = ("compile", "start", "prepare", "load", "check", "time", "end")


def measure(bench: Bench) -> str:
    rows, walls = [], [20.0]
    for example in examples():
        if bench.left_s() < max(walls[-3:]):
            rows.append(f"{example.stem} | no time left" + " |" * 13)
            continue
        record = judge(bench, example)
        walls.append(record["wall_s"])
        bench.store("examples", [record])
        rows.append(row(record))
    head = " | ".join(COSTS)
    return table(
        f"problem | verdict | wall s | {head} | judge GiB | runner GiB | GPU GiB | pkb | large",
        rows,
    )


def judge(bench: Bench, example) -> dict:
    """The record of a process and a compile cache that are new, made slim."""
    options = ["--device", bench.device, "--json"]
    options += ["--sizes", "all" if bench.is_gpu else "tiny"]
    begin = time.monotonic()
    with Sampler() as sampler, tempfile.TemporaryDirectory() as cache:
        record = evaluate(example, options, cache, max(30.0, bench.left_s()))
    wall_s = round(time.monotonic() - begin, 3)
    kept = {key: record[key] for key in ("problem", "machine", "versions") if key in record}
    kept.setdefault("problem", example.stem)
    return {**kept, **slim(record), "wall_s": wall_s, "peak_mib": sampler.peak}


def evaluate(example, options: list[str], cache: str, limit_s: float) -> dict:
    """The record; where there is none, what happened instead."""
    environment = {"PKBENCH_CACHE": cache}
    try:
        answer = pkbench("eval", example, *options, env=environment, timeout_s=limit_s)
    except subprocess.TimeoutExpired:
        return {"verdict": "no answer", "reason": f"nothing after {limit_s:.0f} s"}
    if answer.out.strip():
        return json.loads(answer.out)
    return {"verdict": f"exit {answer.status}", "reason": answer.err[-400:]}


def row(record: dict) -> str:
    costs = record.get("cost_s", {})
    peak = record["peak_mib"]
    cells = [record["problem"], record["verdict"], f"{record['wall_s']:.1f}"]
    cells += [f"{costs[name]:.1f}" if name in costs else "" for name in COSTS]
    cells += [
        f"{peak[role] / 1024:.1f}" if role in peak else "" for role in ("judge", "runner", "gpu")
    ]
    cells += [speedups(record, which) for which in ("pkb", "large")]
    if record["verdict"] != "CORRECT":
        cells[1] += ": " + record.get("reason", "")[:120].replace("|", "/").replace("\n", " ")
    return " | ".join(cells)


def speedups(record: dict, which: str) -> str:
    found = [size.get("speedup", {}).get("eager") for size in record["sizes"]
             if size.get("class") == which]  # fmt: skip
    return ", ".join(
        f"{one['value']:.3g}" + ("?" if one.get("unstable") else "") for one in found if one
    )


# ---- while the judges live ----


def warm(bench: Bench) -> str:
    """The first attempt that judges see at all sizes, and two more."""
    rows = []
    chosen = [path for path in examples() if path.stem[:3] in NUMBERS] if bench.is_gpu else []
    for example in chosen:
        header = bench.problem_header(example)
        begin = time.monotonic()
        (built,) = bench.build_all([Build(example.stem, example, (), header)]).values()
        compile_s = time.monotonic() - begin
        with World(bench, example.stem, "all") as world:
            for run in range(3):
                if bench.left_s() < 25:
                    break
                event = world.judge(built)
                kept = {"problem": example.stem, "run": run, "wall_s": event["wall_s"]}
                bench.store("warm", [{**kept, "compile_s": compile_s, **slim(event)}])
                costs = event.get("cost_s", {})
                told = " | ".join(f"{costs.get(name, 0):.1f}" for name in COSTS[2:])
                start = f"{world.start_s:.1f}" if run == 0 else ""
                rows.append(f"{example.stem} | {event['verdict']} | {compile_s:.1f} | {start}"
                            f" | {event['wall_s']:.1f} | {told}")  # fmt: skip
    head = " | ".join(COSTS[2:])
    return table(f"problem | verdict | compile | start of judges | attempt wall s | {head}", rows)
