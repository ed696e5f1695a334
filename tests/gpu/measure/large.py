# SPDX-License-Identifier: Apache-2.0
"""What drawing, the reference and the oracle take in a runner without judges: seconds and PyTorch's
peak of GPU memory, of each problem at its large sizes.
"""

import time
from collections.abc import Callable

import torch

from harness.runner.audit.scene import Place, places_of, poisoned
from harness.runner.audit.world import Rank, WorldFault, Worlds
from harness.runner.case import Case, Draw, RankInputs, Tensors
from harness.runner.context import Seed
from harness.runner.problem import load
from tests.e2e.command import ROOT
from tests.gpu.measure.bench import Bench, table
from tests.gpu.measure.memory import Sampler

PARTS = ("draw", "reference", "oracle")
TRIALS = 2  # the first warms up
HEAD = " | ".join(
    ["problem", "size"]
    + [f"{part} s, first | then" for part in PARTS]
    + [f"{part} GiB" for part in PARTS]
    + ["GPU GiB"]
)


def measure(bench: Bench) -> str:
    paths = sorted((ROOT / "problems").glob("[0-9]*.json"))
    worlds, rows, longest_s = Worlds(bench.device), [], 20.0
    try:
        with Sampler() as sampler:
            for path in paths if bench.is_gpu else paths[:2]:
                for place in places(bench, load(path)):
                    if bench.left_s() < longest_s:
                        rows.append(f"{place} | no time left" + " |" * 9)
                        continue
                    begin = time.monotonic()
                    record = look(worlds, place)
                    longest_s = max(longest_s, time.monotonic() - begin)
                    record["gpu_mib"] = sampler.take().get("gpu")
                    bench.store("large", [record])
                    rows.append(row(record))
    finally:
        worlds.close()
    return table(HEAD, rows)


def places(bench: Bench, problem) -> list[Place]:
    wanted = "large" if bench.is_gpu else "tiny"
    sizes = [size.name for size in problem.sizes if size.size_class == wanted]
    return places_of(problem, sizes, [2], bench.device)


def look(worlds: Worlds, place: Place) -> dict:
    """Of all ranks the slowest and the largest."""
    record = {"problem": place.problem.name, "size": place.size, "grid": place.grid}
    try:
        ranks = worlds(place.world).run(take, place)
    except WorldFault as fault:
        return {**record, "failed": str(fault).strip().splitlines()[-1][:300]}
    for part in PARTS:
        record[f"{part}_s"] = [
            round(max(rank[trial][part][0] for rank in ranks), 4) for trial in range(TRIALS)
        ]
        record[f"{part}_mib"] = max(one[part][1] for rank in ranks for one in rank) >> 20
    return record


def take(me: Rank, place: Place) -> list[dict[str, tuple[float, int]]]:
    """Seconds and peak bytes of each part, trial by trial; collective, as the reference is."""
    case = place.case("how long")
    found = [_take_once(me, case, case.seed(trial, "nominal")) for trial in range(TRIALS)]
    if place.device == "cuda":
        torch.cuda.empty_cache()
    return found


def _take_once(me: Rank, case: Case, seed: Seed) -> dict[str, tuple[float, int]]:
    """As a runner does for an entry of its pool."""
    parts: dict[str, tuple[float, int]] = {}
    resolved, own = _timed(parts, "draw", lambda: (case.resolve(seed), case.draw(me.rank, seed)))
    outputs = poisoned(case, resolved, me.rank)
    given = _given(case, own, outputs)
    context = case.context(resolved, me.rank, seed)
    context.connect(me.groups.of(resolved.grid), outputs)
    _timed(parts, "reference", lambda: case.run_reference(context, given, outputs))
    inputs = RankInputs(case, seed, me.rank, own)
    context = case.context(resolved, me.rank, seed)
    _timed(parts, "oracle", lambda: case.run_oracle(context, resolved, inputs))
    return parts


def _given(case: Case, own: Draw, outputs: Tensors) -> dict:
    """A reference's arguments: host arrays lie in host memory, an inout in the output's place."""
    given = own.arguments()
    for argument in case.problem.arguments:
        if argument.role == "host" and argument.name in given:
            given[argument.name] = given[argument.name].cpu()
        if argument.role == "inout" and argument.name in outputs:
            given[argument.name] = outputs[argument.name].copy_(given[argument.name])
    return given


def _timed(parts: dict, name: str, work: Callable):
    """Of the device's memory what it holds at most, with all that was there before."""
    on_gpu = torch.cuda.is_available()
    if on_gpu:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    begin = time.monotonic()
    result = work()
    if on_gpu:
        torch.cuda.synchronize()
    seconds = time.monotonic() - begin
    parts[name] = (seconds, torch.cuda.max_memory_allocated() if on_gpu else 0)
    return result


def row(record: dict) -> str:
    name = f"{record['problem']} | {record['size']} {record['grid']}"
    if "failed" in record:
        return f"{name} | {record['failed'].replace('|', '/')}" + " |" * 9
    seconds = [f"{s:.3f}" for part in PARTS for s in record[f"{part}_s"]]
    gib = [f"{record[f'{part}_mib'] / 1024:.1f}" for part in PARTS]
    used = record["gpu_mib"]
    return " | ".join([name, *seconds, *gib, f"{used / 1024:.1f}" if used else ""])
