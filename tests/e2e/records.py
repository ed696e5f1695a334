# SPDX-License-Identifier: Apache-2.0
"""Made-up records, as `pkbench eval` writes them, for tests of what is made from records."""

import hashlib
import json
from pathlib import Path

PROTOCOL = 2
GPUS = "NVIDIA H200 x 2, NVLink x 18, driver 580.159.04, nvcc 13.0.88, torch 2.11.0"


def batches(count: int, world: int = 2) -> list[dict]:
    """Times as a judge notes them."""
    return [
        {
            "side": ("attempt", "eager")[number % 2],
            "pair": number // 2,
            "n": 163,
            "slowest_ns": 9997879 + number,
            "rank_ns": [9997879 + number - rank * 4758 for rank in range(world)],
        }
        for number in range(count)
    ]


def size_of(
    name: str,
    verdict: str,
    speedup: tuple | float | None = None,
    batch_count: int = 0,
    world: int = 2,
) -> dict:
    """What a record says of one size; `speedup` is a value or (value, low, high)."""
    size = {"size": name, "class": name.split("_")[0], "grid": "", "verdict": verdict}
    if speedup is not None:
        value, low, high = (
            speedup if isinstance(speedup, tuple) else (speedup, speedup * 0.99, speedup * 1.01)
        )
        size["speedup"] = {"eager": {"value": value, "low": low, "high": high}}
        size["traffic"] = "not_verified"
    if batch_count:
        size["batches"] = batches(batch_count, world)
    return size


def record(
    problem: str,
    sample: int = 0,
    verdict: str = "CORRECT",
    *,
    speedup: tuple | float | None = None,
    sizes: list[dict] | None = None,
    device: str = "cuda",
    world: int = 2,
    run: str = "model",
    source: str | None = None,
    batch_count: int = 0,
    **changes,
) -> dict:
    """One record; by default right at tiny, pkb and large. `changes` replace whole keys."""
    names = ["tiny"] if device == "cpu" else ["tiny", "pkb", "large"]
    if sizes is None:
        last = names if verdict == "CORRECT" else names[:1]
        sizes = [
            size_of(name, verdict, None if device == "cpu" else speedup, batch_count, world)
            for name in last
        ]
    text = source if source is not None else f"{run}/{problem}/{sample}"
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    flags = {"sizes": "tiny" if device == "cpu" else "all", "timing": True, "timeout_s": 20}
    return {
        "schema": 1,
        "id": f"{run}/{problem}/{sample}/{device}/{world}",
        "judgement": hashlib.sha256(f"{sha256} {problem} {flags}".encode()).hexdigest(),
        "run": run,
        "problem": problem,
        "sample": sample,
        "source": f"{sample}.cu",
        "source_sha256": sha256,
        "device": device,
        "world": world,
        "sandbox": "full",
        "verdict": verdict,
        "sizes": sizes,
        "cost_s": {"compile": 1.5, "check": 0.4, "total": 4.0},
        "sizes_asked": names,
        "versions": {"pkbench": "0.1.0", "protocol": PROTOCOL, "torch": "2.11.0"},
        "machine": {"host": "vm", "class": GPUS if device == "cuda" else "cpu, a CPU x 2"},
        "flags": flags,
        **changes,
    }


def write(path: Path, records: list) -> Path:
    """A file of records, a line each; strings are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
    path.write_text("".join(line + "\n" for line in lines))
    return path


def problem_name(number: int) -> str:
    """Names that no catalogue has, but the form of a problem's."""
    return f"{number:03d}_made_up"
