# SPDX-License-Identifier: Apache-2.0
"""One cold `pkbench eval` of every example at all sizes: wall time and where it goes, speed-ups,
and the GPU memory of judges and runners. And attempts that follow while the judges live.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from tests.e2e.command import PKBENCH, ROOT, pkbench
from tests.gpu.measure.bench import Bench, examples, slim, table
from tests.gpu.measure.memory import Sampler
from tests.gpu.measure.spread import NUMBERS

COSTS = ("compile", "start", "prepare", "load", "check", "time", "end")
HEAD = " | ".join(
    ["attempt", "verdict", "wall s", *COSTS, "judge GiB", "runner GiB", "GPU GiB", "pkb", "large"]
)


def measure(bench: Bench) -> str:
    return evaluations(bench, "examples", examples())


def tutorial(bench: Bench) -> str:
    """The attempts of docs/tutorial.md; one of them is wrong."""
    return evaluations(bench, "tutorial", sorted((ROOT / "docs" / "tutorial").glob("*.cu")))


def evaluations(bench: Bench, step: str, attempts: list[Path]) -> str:
    rows, walls = [], [20.0]
    for example in attempts:
        if bench.left_s() < max(walls[-3:]):
            rows.append(f"{example.stem} | no time left" + " |" * 13)
            continue
        record = judge(bench, example)
        walls.append(record["wall_s"])
        bench.store(step, [record])
        rows.append(row(record))
    return table(HEAD, rows)


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
    kept["attempt"] = example.stem
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
    cells = [record["attempt"], record["verdict"], f"{record['wall_s']:.1f}"]
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


# ---- a folder of attempts ----

SAMPLES = 2


def folder(bench: Bench) -> str:
    """`pkbench eval DIR` from cold: when each record arrived. Ranks live on while the problem is
    the same; copies differ by a comment, or they would share a judgement."""
    run = bench.scratch / "run"
    chosen = [path for path in examples() if path.stem[:3] in NUMBERS]
    for example in chosen if bench.is_gpu else chosen[:1]:
        place = run / "samples" / example.stem
        place.mkdir(parents=True)
        for k in range(SAMPLES):
            (place / f"{k}.cu").write_text(example.read_text() + f"/* sample {k} */\n")
    records = bench.scratch / "records"
    command = [PKBENCH, "eval", run, "--device", bench.device, "-o", records]
    command += ["--sizes", "all" if bench.is_gpu else "tiny"]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PKBENCH_CACHE": cache}
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment)
        arrivals = watch_lines(process, records, bench)
    lines = records.read_text().splitlines() if records.exists() else []
    found = [json.loads(line) for line in lines]
    records.unlink(missing_ok=True)
    shutil.rmtree(run)
    rows, before_s = [], 0.0
    for at_s, record in zip(arrivals, found, strict=False):
        costs = record.get("cost_s", {})
        told = " | ".join(f"{costs[name]:.1f}" if name in costs else "" for name in COSTS)
        name = f"{record['problem']} {record['sample']}"
        rows.append(f"{name} | {record['verdict']} | {at_s - before_s:.1f} | {told}")
        kept = {"problem": record["problem"], "sample": record["sample"]}
        bench.store("folder", [{**kept, "wall_s": round(at_s - before_s, 3), **slim(record)}])
        before_s = at_s
    return table(f"problem, sample | verdict | wall s | {' | '.join(COSTS)}", rows)


def suite(bench: Bench) -> str:
    """All examples at all sizes in one `pkbench eval examples/`; the peak of each one's memory."""
    path = bench.scratch / "records"
    command = [PKBENCH, "eval", ROOT / "examples", "--device", bench.device, "-o", path]
    command += ["--sizes", "all" if bench.is_gpu else "tiny"]
    peaks: list[dict] = []
    with Sampler() as sampler, (bench.out / "suite.said").open("w") as said:
        process = subprocess.Popen(command, stderr=said)
        arrivals = watch_lines(process, path, bench, lambda: peaks.append(sampler.take()))
    rows, before_s = [], 0.0
    for line, at_s, peak in zip(path.read_text().splitlines(), arrivals, peaks, strict=False):
        record = json.loads(line)
        kept = {key: record[key] for key in ("problem", "world", "sandbox", "machine", "reference")
                if key in record}  # fmt: skip
        wall_s = round(at_s - before_s, 3)
        kept = {**kept, **slim(record), "wall_s": wall_s, "peak_mib": peak}
        bench.store("suite", [kept])
        rows.append(row({**kept, "attempt": record["problem"]}))
        before_s = at_s
    path.unlink()
    return table(HEAD, rows)


def watch_lines(
    process: subprocess.Popen, path: Path, bench: Bench, on_line=lambda: None
) -> list[float]:
    """Seconds after which each line of a file was there, until the process has ended."""
    begin, arrivals, is_over = time.monotonic(), [], False
    while not is_over:
        is_over = process.poll() is not None
        lines = path.read_bytes().count(b"\n") if path.exists() else 0
        while len(arrivals) < lines:
            arrivals.append(time.monotonic() - begin)
            on_line()
        if bench.left_s() < 3 and not is_over:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=20)
        time.sleep(0.02)
    return arrivals
