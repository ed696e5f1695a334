# SPDX-License-Identifier: Apache-2.0
"""Speed of the CPU device and of judging; a table on stdout, the numbers in build/bench.json.

Steps of compiling are timed one by one from a cold start; run speed is what the judge's clock shows
for the examples (attempt side, fastest batch of three judgings).
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
EXAMPLES = sorted((ROOT / "examples").glob("*.cu"))
# The flags of evaluator/compile/command.c, here to time the steps one by one.
NVCC_FLAGS = [
    *("-std=c++17", "-O3", "-lineinfo", "-gencode", "arch=compute_90a,code=compute_90a"),
    *("-cudart", "shared", "-shared", "-Xcompiler", "-fPIC", "--no-compress", "-keep"),
]
GCC_FLAGS = [
    *("-O1", "-std=gnu11", "-w", "-march=x86-64-v3", "-ffp-contract=off"),
    *("-fno-strict-aliasing", "-fwrapv", "-fPIC", "-shared"),
]


def timed(command: list[str], **options) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)
    return time.perf_counter() - start


def evaluate(source: Path, *arguments: str, cache: str | None = None) -> tuple[dict, float]:
    """The record of one judging and its wall time in seconds."""
    env = {**os.environ, **({"PKBENCH_CACHE": cache} if cache else {})}
    start = time.perf_counter()
    done = subprocess.run(
        [BUILD / "pkbench", "eval", source, "--device", "cpu", "--json", *arguments],
        capture_output=True,
        env=env,
    )
    wall_s = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"bench: {source.name} was not judged CORRECT:\n{done.stderr.decode()}")
    return json.loads(done.stdout), wall_s


def compile_steps(source: Path) -> dict[str, float]:
    """Seconds of nvcc, translation and gcc, one after another, without the cache."""
    nvcc = subprocess.check_output([ROOT / "tools/find_nvcc.sh"], text=True).strip()
    with tempfile.TemporaryDirectory() as folder:
        kept = f"{folder}/kept"  # with problem.h
        evaluate(source, "--sizes", "tiny", "--no-timing", "--keep", kept)
        include = [f"-I{kept}", f"-I{ROOT / 'harness/include'}"]
        so = f"{folder}/a.so"
        ptx, c = f"{folder}/{source.stem}.ptx", f"{folder}/device.c"
        return {
            "nvcc_s": timed(
                [nvcc, *NVCC_FLAGS, "-keep-dir", folder, *include, str(source), "-o", so]
            ),
            "translate_s": timed([str(BUILD / "pkbench-ptx2c"), ptx, "-o", c]),
            "gcc_s": timed(["gcc", *GCC_FLAGS, f"-I{ROOT}", c, "-o", f"{folder}/d.so"]),
        }


def run_speed(source: Path, size: str) -> float:
    """Microseconds of a call at `size`, two ranks: the fastest of three judgings."""
    times = []
    for _ in range(3):
        record, _ = evaluate(source, "--sizes", size)
        times += [entry["time_us"]["attempt"] for entry in record["sizes"]]
    return min(times)


def switch_ns() -> float:
    """Nanoseconds of one fiber switch, as the CPU device's own benchmark prints it."""
    program = BUILD / "bench" / "fiber_switch"
    return float(subprocess.check_output([program], text=True))


def main() -> None:
    results: dict = {"compile": {}, "eval": {}, "cores": os.cpu_count()}
    print(f"{'':28} {'nvcc':>9} {'translate':>9} {'gcc':>9}   seconds")
    for source in EXAMPLES:
        steps = compile_steps(source)
        results["compile"][source.stem] = steps
        print(f"{source.stem:28} " + " ".join(f"{value:9.3f}" for value in steps.values()))

    print(f"\n{'eval --sizes tiny':28} {'wall':>8}   compile, start, check, time (seconds)")
    for source in EXAMPLES:
        with tempfile.TemporaryDirectory() as cache:
            for state in ("cold", "cached"):
                record, wall_s = evaluate(source, "--sizes", "tiny", cache=cache)
                cost = record["cost_s"]
                results["eval"][f"{source.stem} {state}"] = {"wall_s": wall_s, **cost}
                parts = ", ".join(f"{name} {value:.2f}" for name, value in cost.items())
                print(f"{source.stem + ' ' + state:28} {wall_s:8.2f}   {parts}")

    allreduce_us = run_speed(EXAMPLES[0], "pkb")
    results["allreduce_melem_per_s"] = 1024 * 1024 / allreduce_us
    gemm_us = run_speed(EXAMPLES[1], "pkb")
    results["gemm_gflop_per_s"] = 2 * 1024 * 1024 * 512 / gemm_us / 1e3
    results["fiber_switches_per_s"] = 1e9 / switch_ns()
    print(f"\nall-reduce, 2 ranks   {results['allreduce_melem_per_s']:8.1f} Melem/s a rank")
    print(f"GEMM, 2 ranks         {results['gemm_gflop_per_s']:8.2f} GFLOP/s a rank")
    print(f"fiber switches        {results['fiber_switches_per_s'] / 1e6:8.1f} million/s")
    (BUILD / "bench.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
