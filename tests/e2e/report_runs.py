# SPDX-License-Identifier: Apache-2.0
"""Made-up runs for tests of `pkbench report`.

`python -m tests.e2e.report_runs FOLDER` makes one of 87 problems x 100 attempts x 3 sizes.
"""

import random
import sys
from pathlib import Path

from tests.e2e.records import problem_name, record, size_of, write

SIZES = ("tiny", "pkb", "large")
FAILURES = ["WRONG_OUTPUT"] * 5 + ["COMPILE_ERROR"] * 3 + ["CRASH", "TIMEOUT", "NO_CODE"]


def timed(name: str, speedup: float, eager_us: float, batch_count: int = 0) -> dict:
    """A size with its times."""
    size = size_of(name, "CORRECT", (speedup, speedup * 0.985, speedup * 1.015), batch_count)
    size["time_us"] = {"attempt": eager_us / speedup, "eager": eager_us}
    return size


def attempt(rng: random.Random, problem: str, sample: int, chance: float, **options) -> dict:
    """Right with that chance, then at all sizes and with times; else with a reason of its own."""
    batch_count = options.pop("batch_count", 0)
    if rng.random() < chance:
        sizes = [
            timed(name, rng.lognormvariate(0.2, 0.6), rng.uniform(40, 5000), batch_count)
            for name in SIZES
        ]
        return record(problem, sample, sizes=sizes, **options)
    where = f"rank {rng.randrange(8)}, output C[{rng.randrange(4096)}, {rng.randrange(4096)}]"
    return record(
        problem,
        sample,
        rng.choice(FAILURES),
        reason=f"{where} is {rng.random():.6g} and should be {rng.random():.6g} (trial 2 of 3)",
        **options,
    )


def make_run(
    folder: Path,
    run: str,
    problems: list[str],
    samples: int,
    *,
    seed: int = 1,
    has_sources: bool = False,
    **options,
) -> Path:
    """A folder with records of one run, and its sources where they are asked for."""
    rng = random.Random(seed)
    records = []
    for problem in problems:
        chance = rng.random()
        for sample in range(samples):
            text = f"// {run} {problem} {sample}\n"
            if has_sources:
                source = folder / "samples" / problem / f"{sample}.cu"
                source.parent.mkdir(parents=True, exist_ok=True)
                source.write_text(text)
            records.append(attempt(rng, problem, sample, chance, run=run, source=text, **options))
    write(folder / "results" / "vm-cuda-P2.jsonl", records)
    return folder


if __name__ == "__main__":
    names = [problem_name(number) for number in range(1, 88)]
    make_run(Path(sys.argv[1]), "large", names, 100, batch_count=60)
