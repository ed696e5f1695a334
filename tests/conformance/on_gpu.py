# SPDX-License-Identifier: Apache-2.0
"""The conformance programs on a real GPU, case by case, against the CPU device:

    python -m tests.conformance.on_gpu --out DIR [--device cuda|cpu]

Each case must pass on both, and what it reads back (check.cuh, PKB_DUMP) must be the same bits; for
03_approximate and for what follows from it the distance is told in units in the last place. With
--device cpu the CPU device is held against itself, which tests this script alone.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.conformance.test_conformance import CPURUN, HERE, ROOT, cases

CASE_LIMIT_S = 30
PROGRAM_LIMIT_S = 180
FLOATS = {4: np.float32, 8: np.float64}
WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
WORKERS = 12

# Cases that say something about the CPU device only, and why.
SKIPPED = {
    "12_ranks": "maps its ranks' memory through functions of the CPU device",
    "deadlock_between_barriers": "a data-centre GPU has no watchdog: the kernel would hang",
    "deadlock_of_a_lane": "a data-centre GPU has no watchdog: the kernel would hang",
    "lane_outside_its_mask": "undefined in CUDA; the CPU device calls it a fault",
    "write_just_behind": "a GPU faults by pages, the CPU device by bytes",
    "write_into_the_red_zone": "a GPU faults by pages, the CPU device by bytes",
    "write_after_free": "the driver keeps freed pages mapped for a while",
    "shared_memory_outside": "a GPU faults by its shared window, the CPU device by arrays",
    "unsupported_and_executed": "what the CPU device lacks",
    "stream_that_never_was": "the real runtime follows the pointer",
    "printf_formats_of_c": "formats that CUDA's manual leaves out",
    "printf_has_a_cap": "the limit of printed text is the CPU device's",
}
# Compared by PASS alone, and why.
NOT_COMPARED = {
    "structs_by_value": "the padding of structs has no value",
    "clocks_go_forward": "reads clocks",
    "coalesced_groups_aggregate": "places in the order in which warps come",
    "exchange_and_compare": "an exchange in the order in which threads come",
}


@dataclass
class Outcome:
    """One case on one device: empty `reason` = passed."""

    reason: str
    output: str = ""


def parse(output: str) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    for name, reason in re.findall(r"^FAIL (\w+): (.*)$", output, re.M):
        found.setdefault(name, Outcome(reason))
    for name in re.findall(r"^PASS (\w+)$", output, re.M):
        found.setdefault(name, Outcome(""))
    return found


def run(command: list, limit_s: float, **environment: str) -> str:
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        env={**os.environ, **environment},
    )
    try:
        return process.communicate(timeout=limit_s)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0] + f"\nkilled after {limit_s} s\n"


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def on_cpu(source: Path, out: Path) -> dict[str, Outcome]:
    """All cases of a program."""
    folder = fresh(out / source.stem)
    return parse(run([CPURUN, source], PROGRAM_LIMIT_S, PKB_DUMP=str(folder)))


def build(source: Path, out: Path) -> Path | str:
    """The native program, or what nvcc said."""
    nvcc = subprocess.check_output([ROOT / "tools" / "find_nvcc.sh"], text=True).strip()
    program = out / source.stem
    command = [nvcc, "-std=c++17", "-lineinfo", "-gencode", "arch=compute_90a,code=sm_90a"]
    command += [f"-I{ROOT}/harness/include", "-o", str(program), str(source), "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True)
    return program if done.returncode == 0 else done.stderr[-500:]


def on_gpu(program: Path | str, name: str, gpu: int, out: Path) -> Outcome:
    if isinstance(program, str):
        return Outcome(f"does not compile: {program}")
    folder = out / program.name
    folder.mkdir(parents=True, exist_ok=True)
    environment = {"PKB_DUMP": str(folder), "CUDA_VISIBLE_DEVICES": str(gpu)}
    # Loading a kernel at its first launch waits for kernels that wait for it.
    environment["CUDA_MODULE_LOADING"] = "EAGER"
    output = run([program, name], CASE_LIMIT_S, **environment)
    outcome = parse(output).get(name, Outcome("not reported"))
    return Outcome(outcome.reason, output[-3000:] if outcome.reason else "")


# ---- comparison ----


def arrays(path: Path) -> list[tuple[str, np.ndarray]]:
    """What check.cuh wrote: kind and elements, structs as bytes."""
    found = []
    data = path.read_bytes() if path.exists() else b""
    while data:
        kind, size, count = np.frombuffer(data[:24], np.uint64)
        body, data = data[24 : 24 + int(size * count)], data[24 + int(size * count) :]
        found.append((chr(kind), np.frombuffer(body, WORDS.get(int(size), np.uint8))))
    return found


def ordered(bits: np.ndarray) -> np.ndarray:
    """Bits of floats as integers in the floats' order."""
    signed = bits.view(np.int32 if bits.itemsize == 4 else np.int64).astype(np.int64)
    lowest = np.int64(-(2**31)) if bits.itemsize == 4 else np.iinfo(np.int64).min
    return np.where(signed < 0, lowest - signed, signed)


def differences(kind: str, mine: np.ndarray, other: np.ndarray) -> tuple[int, int, float]:
    """How many elements differ, and by how many ulps and how much at most; two NaNs are the same.
    Kind F is a float's bits."""
    differs = mine != other
    if kind in "fF":
        floats = FLOATS[mine.itemsize]
        differs &= ~(np.isnan(mine.view(floats)) & np.isnan(other.view(floats)))
    count = int(differs.sum())
    if count == 0 or kind == "i":
        return count, 0, 0.0
    distance = ordered(mine)[differs] - ordered(other)[differs]
    values = [bits[differs].view(floats).astype(np.float64) for bits in (mine, other)]
    return count, int(np.abs(distance).max()), float(np.abs(values[0] - values[1]).max())


def compare(name: str, cpu: Path, gpu: Path) -> dict:
    mine, other = arrays(cpu / f"{name}.bin"), arrays(gpu / f"{name}.bin")
    if cpu.name == "02_float":
        mine = [("F" if array.itemsize == 4 else kind, array) for kind, array in mine]
    result = {"arrays": len(mine), "elements": sum(len(array) for _, array in mine)}
    if name in NOT_COMPARED:
        return {**result, "not_compared": NOT_COMPARED[name]}
    if [len(array) for _, array in mine] != [len(array) for _, array in other]:
        return {**result, "shapes": "differ"}
    found = [differences(kind, a, b) for (kind, a), (_, b) in zip(mine, other, strict=True)]
    result["different"] = sum(count for count, _, _ in found)
    result["ulps"] = max((ulps for _, ulps, _ in found), default=0)
    result["apart"] = max((apart for _, _, apart in found), default=0.0)
    return result


# ---- all ----


def is_skipped(source: Path, name: str) -> str | None:
    return SKIPPED.get(source.stem) or SKIPPED.get(name)


def collect(out: Path, device: str, gpus: int) -> list[dict]:
    sources = sorted({source for source, _ in cases()})
    wanted = [(source, name) for source, name in cases() if not is_skipped(source, name)]
    workers = max(1, min(WORKERS, (os.cpu_count() or 2) - 1))
    cpu_out, gpu_out, programs = out / "cpu", fresh(out / "gpu"), fresh(out / "programs")
    with ThreadPoolExecutor(workers) as pool:
        cpu_runs = {source: pool.submit(on_cpu, source, cpu_out) for source in sources}
        if device == "cuda":
            built = dict(zip(sources, pool.map(lambda s: build(s, programs), sources), strict=True))
            native = list(
                pool.map(
                    lambda at: on_gpu(built[at[1][0]], at[1][1], at[0] % gpus, gpu_out),
                    enumerate(wanted),
                )
            )
        else:
            again = list(pool.map(lambda source: on_cpu(source, gpu_out), sources))
            runs = dict(zip(sources, again, strict=True))
            native = [runs[source].get(name, Outcome("not reported")) for source, name in wanted]
        on_cpus = {source: future.result() for source, future in cpu_runs.items()}
    rows = []
    for (source, name), gpu in zip(wanted, native, strict=True):
        cpu = on_cpus[source].get(name, Outcome("not reported"))
        row = {"program": source.stem, "case": name, "cpu": cpu.reason, "gpu": gpu.reason}
        if gpu.output:
            row["output"] = gpu.output
        rows.append({**row, **compare(name, cpu_out / source.stem, gpu_out / source.stem)})
    skipped = [(s, n, is_skipped(s, n)) for s, n in cases() if is_skipped(s, n)]
    return rows + [{"program": s.stem, "case": n, "skipped": why} for s, n, why in skipped]


def describe(rows: list[dict]) -> str:
    ran = [row for row in rows if "skipped" not in row]
    passed = [row for row in ran if not row["cpu"] and not row["gpu"]]
    same = [row for row in passed if row.get("different") == 0]
    lines = [
        f"conformance: {len(rows)} cases, {len(rows) - len(ran)} skipped; of {len(ran)} run"
        f" {len(passed)} pass on both, {len(same)} with the same bits in"
        f" {sum(row['elements'] for row in same)} elements"
    ]
    for row in ran:
        if row in same or (row in passed and "not_compared" in row):
            continue
        told = f"{row['program']} {row['case']}: cpu {row['cpu'] or 'passes'}"
        told += f", gpu {row['gpu'] or 'passes'}"
        if row.get("different"):
            told += f", {row['different']} of {row['elements']} differ, {row['ulps']} ulps at most"
            told += f" ({row['apart']:.2g})"
        lines.append((told + (", shapes differ" if "shapes" in row else ""))[:220])
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.on_gpu")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--gpus", type=int, default=2)
    options = parser.parse_args()
    rows = collect(options.out / "conformance", options.device, options.gpus)
    with open(options.out / "conformance.jsonl", "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
    shutil.rmtree(options.out / "conformance")
    print(describe(rows))
    return 0


if __name__ == "__main__":
    assert HERE.exists()
    sys.exit(main())
