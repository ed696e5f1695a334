# SPDX-License-Identifier: Apache-2.0
"""The same attempt judged again and again: how far apart the answers are."""

import statistics

from tests.gpu.measure.bench import Bench, Build, examples, slim, spread, table
from tests.gpu.measure.world import World

RUNS = 10
NUMBERS = ("001", "013", "026")


def measure(bench: Bench) -> str:
    chosen = [path for path in examples() if path.stem[:3] in NUMBERS]
    if not bench.is_gpu:
        return "spread: needs GPUs, since an attempt with kernels is not built here otherwise\n"
    builds = [Build(path.stem, path, (), bench.problem_header(path)) for path in chosen]
    built = bench.build_all(builds)
    rows = []
    for place, (name, attempt) in enumerate(built.items()):
        until_s = bench.left_s() * (len(built) - place - 1) / (len(built) - place)
        events = judge_all(bench, name, attempt, until_s)
        rows += [size_row(name, size, events) for size in ("pkb", "large")]
    return table(
        "problem | size | n | min | median | max | range | intervals with the median | unstable"
        " | pairs | wall s",
        rows,
    )


def judge_all(bench: Bench, name: str, attempt, until_s: float) -> list[tuple[str, dict]]:
    """One size after the other, since an open size is cheaper than a change; until each has RUNS
    answers or only `until_s` of the budget is left."""
    events = []
    with World(bench, name, "pkb,large") as world:
        for size in ("pkb", "large"):
            share_s = bench.left_s() - (bench.left_s() - until_s) / (2 if size == "pkb" else 1)
            for run in range(RUNS):
                if bench.left_s() < share_s + 3:
                    break
                event = world.judge(attempt, size)
                events.append((size, event))
                kept = {"problem": name, "run": run, "wall_s": event["wall_s"]}
                bench.store("spread", [{**kept, **slim(event, keeps_batches=True)}])
    return events


def size_row(name: str, size: str, events: list[tuple[str, dict]]) -> str:
    mine = [event for its_size, event in events if its_size == size]
    good = [event["sizes"][0] for event in mine if event["verdict"] == "CORRECT"]
    if not good:
        return f"{name} | {size} | 0 | | | | | | {mine[0]['verdict'] if mine else ''} | |"
    found = [one["speedup"]["eager"] for one in good]
    values = [one["value"] for one in found]
    middle = statistics.median(values)
    inside = sum(one["low"] <= middle <= one["high"] for one in found)
    unstable = sum(bool(one.get("unstable")) for one in found)
    pairs = statistics.median(len(one["batches"]) // 2 for one in good)
    wall = statistics.median(event["wall_s"] for event in mine)
    return (
        f"{name} | {size} | {len(good)} | {spread(values)} | {inside} | {unstable}"
        f" | {pairs:.0f} | {wall:.1f}"
    )
