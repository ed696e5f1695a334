# SPDX-License-Identifier: Apache-2.0
"""Speed of the CPU device and of judging; a table on stdout, the numbers in build/bench.json.

Steps of compiling are timed one by one from a cold start; run speed is what the judge's clock shows
for the examples (attempt side, fastest batch of three judgings). Each part says how many processes
wanted a core before it (`load`): a busy machine has other numbers.
"""

import argparse
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


def measured(command: list, *, reads: Path) -> dict[str, float]:
    """What `command` costs: the best of three, with its files in the page cache. What this process
    held when it started the command is the least that can come out as memory."""
    best: dict[str, float] = {}
    for _ in range(3):
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = child.stderr.read().decode()
        _, status, usage = os.wait4(child.pid, 0)
        wall_s = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"bench: {command[1]} of {reads} ended with {child.returncode}:\n{said}")
        if wall_s < best.get("wall_s", float("inf")):
            cpu_s = usage.ru_utime + usage.ru_stime
            best = {"wall_s": wall_s, "cpu_s": cpu_s, "memory_mib": usage.ru_maxrss / 1024}
    return best


def bench_compile() -> dict:
    found = {}
    print(f"{'':36} {'nvcc':>9} {'translate':>9} {'gcc':>9}   seconds")
    for source in EXAMPLES:
        steps = compile_steps(source)
        found[source.stem] = steps
        print(f"{source.stem:36} " + " ".join(f"{value:9.3f}" for value in steps.values()))
    return found


def bench_eval() -> dict:
    found = {}
    print(f"{'eval --sizes tiny':43} {'wall':>8}   where it went (seconds)")
    for source in EXAMPLES:
        with tempfile.TemporaryDirectory() as cache:
            for state in ("cold", "cached"):
                record, wall_s = evaluate(source, "--sizes", "tiny", cache=cache)
                cost = record["cost_s"]
                found[f"{source.stem} {state}"] = {"wall_s": wall_s, **cost}
                parts = ", ".join(f"{name} {value:.2f}" for name, value in cost.items())
                print(f"{source.stem + ' ' + state:43} {wall_s:8.2f}   {parts}")
    return found


def bench_device() -> dict:
    allreduce_us = run_speed(ROOT / "examples" / "001_allreduce.cu", "pkb")
    gemm_us = run_speed(ROOT / "examples" / "013_gemm_allreduce.cu", "pkb")
    found = {
        "allreduce_melem_per_s": 1024 * 1024 / allreduce_us,
        "gemm_gflop_per_s": 2 * 1024 * 1024 * 512 / gemm_us / 1e3,
        "fiber_switches_per_s": 1e9 / switch_ns(),
    }
    print(f"all-reduce, 2 ranks   {found['allreduce_melem_per_s']:8.1f} Melem/s a rank")
    print(f"GEMM, 2 ranks         {found['gemm_gflop_per_s']:8.2f} GFLOP/s a rank")
    print(f"fiber switches        {found['fiber_switches_per_s'] / 1e6:8.1f} million/s")
    return found


def bench_read() -> dict:
    """Score and report of 87 problems, 100 attempts, 3 sizes."""
    with tempfile.TemporaryDirectory() as name:
        run, page = Path(name) / "run", Path(name) / "page.html"
        subprocess.run([sys.executable, "-m", "tests.e2e.report_runs", run], check=True, cwd=ROOT)
        records = next((run / "results").iterdir())
        pkbench = BUILD / "pkbench"
        found = {
            "records_mib": records.stat().st_size / 2**20,
            "score": measured([pkbench, "score", run], reads=run),
            "report": measured([pkbench, "report", run, "-o", page], reads=run),
        }
        found["report"]["page_mib"] = page.stat().st_size / 2**20
    print(f"87 x 100 x 3, {found['records_mib']:.0f} MiB of records")
    for verb in ("score", "report"):
        print(f"{verb:10}" + ", ".join(f"{key} {value:.2f}" for key, value in found[verb].items()))
    return found


PARTS = {"compile": bench_compile, "eval": bench_eval, "device": bench_device, "read": bench_read}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all")
    parts = parser.parse_args().parts or list(PARTS)
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
    path = BUILD / "bench.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    for part in parts:
        machine = {"cores": os.cpu_count(), "load": os.getloadavg()[0]}
        results[part] = {**machine, **PARTS[part]()}
        path.write_text(json.dumps(results, indent=1) + "\n")
        print()


if __name__ == "__main__":
    main()
