# SPDX-License-Identifier: Apache-2.0
"""What the clock reads where the truth is known: nothing, the same, a known delay, and tricks."""

import re
import statistics
from itertools import cycle, islice

from tests.gpu.measure.bench import COPIES, Bench, quantile, slim, spread, table
from tests.gpu.measure.world import World

RUNS = 20
DELAYS_PERCENT = (5, 10, 20)
TRICKS = ("HONEST", "UNJOINED", "SPINNING", "EARLY")


def speedup(event: dict) -> dict | None:
    sizes = event.get("sizes") or [{}]
    return sizes[0].get("speedup", {}).get("eager")


def batches(event: dict, side: str) -> list[dict]:
    sizes = event.get("sizes") or [{}]
    return [batch for batch in sizes[0].get("batches", []) if batch["side"] == side]


# ---- handover: what starting and stopping a batch costs ----


def handover(bench: Bench) -> str:
    """Batches in which an attempt does nothing, or launches one empty kernel, in turns with the
    reference's."""
    size = "nothing" if bench.is_gpu else "tiny_nothing"
    wanted = 200 if bench.is_gpu else 4
    built = bench.build_all(bench.copies("NOTHING", "EMPTY"))
    taken: dict[str, list[float]] = {kind: [] for kind in built}
    windows: list[float] = []
    with World(bench, str(COPIES), size) as world:
        for kind in cycle(built):
            if bench.left_s() < 15 or min(map(len, taken.values())) >= wanted:
                break
            event = world.judge(built[kind], size)
            found = [batch["slowest_ns"] / 1e3 for batch in batches(event, "attempt")]
            taken[kind] += found
            windows += [int(ns) / 1e3 for ns in re.findall(r"window (\d+)", event.pop("printed"))]
            bench.store("handover", [{"kind": kind, **slim(event, True)}])
            if not found and event["verdict"] != "CORRECT" and event["verdict"] != "INFRA_ERROR":
                break
    bench.store("handover", [{"kind": "window_us", "values": windows}])
    rows = [row(f"batch of an attempt: {kind}", us) for kind, us in taken.items()]
    rows.append(row("start window: SIGCONT seen to first call", windows))
    return table("what (µs) | n | median | p95 | max", rows)


def row(name: str, us: list[float]) -> str:
    if not us:
        return f"{name} | 0 | | |"
    numbers = (statistics.median(us), quantile(us, 0.95), max(us))
    return f"{name} | {len(us)} | " + " | ".join(f"{number:.1f}" for number in numbers)


# ---- same: A against A, and A against A with a delay ----


def same(bench: Bench) -> str:
    """The reference's very calls as an attempt: 1.00; and with a delay of 5, 10 and 20 %."""
    size = "copies" if bench.is_gpu else "tiny"
    runs = RUNS if bench.is_gpu else 1
    read: dict[str, list[dict]] = {}
    with World(bench, str(COPIES), size) as world:
        (honest,) = bench.build_all(bench.copies("HONEST")).values()
        call_us = [
            judge_once(bench, world, "same", honest, size, read) for _ in range(min(runs, 3))
        ]
        built = {"same": honest}
        for percent in DELAYS_PERCENT:
            delay_ns = int(statistics.median(call_us) * 10 * percent)
            (attempt,) = bench.build_all(bench.copies("DELAYED", DELAY_NS=delay_ns)).values()
            built[f"{percent} % slower"] = attempt.rename(attempt.with_name(f"slower{percent}.so"))
        for name, attempt in islice(cycle(built.items()), runs * len(built)):
            if bench.left_s() < 5:
                break
            judge_once(bench, world, name, attempt, size, read)
    return table(
        "attempt | truth | n | min | median | max | range | within 1 % | truth in interval",
        [same_row(name, found) for name, found in read.items()],
    )


def same_row(name: str, found: list[dict]) -> str:
    truth = 1 / (1 + int(name.split()[0]) / 100) if name[0].isdigit() else 1.0
    values = [one["value"] for one in found]
    inside = sum(one["low"] <= truth <= one["high"] for one in found)
    near = sum(abs(one["value"] / truth - 1) <= 0.01 for one in found)
    told = spread(values) if values else " | | | "
    return f"{name} | {truth:.4f} | {len(found)} | {told} | {near} | {inside}"


def judge_once(bench: Bench, world: World, name: str, built, size: str, read: dict) -> float:
    """Adds what was read; the attempt's time of a call in µs."""
    found = read.setdefault(name, [])
    event = world.judge(built, size)
    bench.store("same", [{"kind": name, "run": len(found), **slim(event)}])
    if event["verdict"] != "CORRECT" or not speedup(event):
        return 100.0
    found.append(speedup(event))
    return event["sizes"][0]["time_us"]["attempt"]


# ---- tricks ----


def tricks(bench: Bench) -> str:
    """Work that is not joined, a kernel left spinning, work before go: what each reads."""
    size = "copies" if bench.is_gpu else "tiny"
    built = bench.build_all(bench.copies(*TRICKS))
    events: dict[str, list[dict]] = {kind: [] for kind in built}
    with World(bench, str(COPIES), size) as world:
        for kind in islice(cycle(built), len(built) * (RUNS if bench.is_gpu else 1)):
            if bench.left_s() < 20:
                break
            event = world.judge(built[kind], size)
            events[kind].append(event)
            bench.store("tricks", [{"kind": kind, "wall_s": event["wall_s"], **slim(event)}])
    return table(
        "attempt | n | verdicts | speed-up min | median | max | range | a reason",
        [trick_row(kind, found) for kind, found in events.items()],
    )


def trick_row(kind: str, events: list[dict]) -> str:
    verdicts = sorted({event["verdict"] for event in events})
    counted = ", ".join(
        f"{name} {sum(event['verdict'] == name for event in events)}" for name in verdicts
    )
    values = [speedup(event)["value"] for event in events if speedup(event)]
    reasons = [event["reason"] for event in events if event.get("reason")]
    read = spread(values) if values else " | | | "
    return f"{kind} | {len(events)} | {counted} | {read} | {(reasons or [''])[0][:90]}"
