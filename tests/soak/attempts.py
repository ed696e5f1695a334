# SPDX-License-Identifier: Apache-2.0
"""Two hundred attempts in one `pkbench eval DIR`: each gets the verdict that it must get."""

import math
import signal
import subprocess
from collections import Counter
from pathlib import Path

from tests.soak import census, corpus, records
from tests.soak.place import OPTIONS, Clock, Place

TIMEOUT = ("--timeout", "20")
SEED = ("--seed", "7")  # or every call draws other inputs, and reasons differ
LOOK_S = 20
INCOMPLETE, CUT = 6, 130  # exit statuses: two files cannot be read; the time was over
# Beside the attempts; what must be said of each.
NOISE = {
    "noise_binary.cu": "NUL bytes",
    "noise_large.cu": "1048576 at most",
    "999_none.cu": "ignored",
    "0131_four.cu": "ignored",
    "notes.cu": "ignored",
    "-n.cu": "ignored",
}
SILENT = ("README.md", ".hidden.cu", "plan.txt")


def watch(process: subprocess.Popen, path: Path, place: Place, clock: Clock) -> list[dict]:
    """What it holds, every LOOK_S until it has ended."""
    rows = []
    while True:
        try:
            process.wait(LOOK_S)
            return rows
        except subprocess.TimeoutExpired:
            clock.look()
            if place.is_over():  # twice would be now, and not when the attempt is judged
                place.until = math.inf
                process.send_signal(signal.SIGINT)
            count = records.count_lines(path)
            rows.append(census.take(process.pid, place.work, place.cache, count))


def noise_faults(said: str) -> list[str]:
    """What lies beside attempts is named, harmlessly, or is nobody's concern."""
    lines = said.splitlines()
    found = [
        f"{name}: nothing is said with '{words}'"
        for name, words in NOISE.items()
        if not any(name in line and words in line for line in lines)
    ]
    found += [f"{name} is named" for name in SILENT if name in said]
    return found + (["an escape reached the terminal"] if "\x1b[31m" in said else [])


def faults_of(chosen: list[corpus.Attempt], found: list[dict], status: int, said: str) -> list[str]:
    """Of a run that was cut short, only what was judged has to be right."""
    mine, is_cut = records.by_path(found), status == CUT
    demanded = [one for one in chosen if one.path in mine or not is_cut]
    faults = [text for one in demanded if (text := records.fault(one, mine.get(one.path)))]
    if len(found) != len(demanded):
        faults.append(f"{len(found)} records of {len(demanded)} attempts")
    if not is_cut:
        faults += noise_faults(said)
    if status not in (CUT, INCOMPLETE):
        faults.append(f"exit status {status}")
    return faults


def measure(place: Place, count: int) -> dict:
    chosen = corpus.attempts()[:count]
    run, path, told = place.out / "run", place.out / "attempts.jsonl", place.out / "attempts.said"
    corpus.write(run, chosen, with_noise=True)
    clock = Clock(place.cpu)
    with told.open("w") as said:
        process = place.start("eval", run, *OPTIONS, *TIMEOUT, *SEED, "-o", path, stderr=said)
        rows = watch(process, path, place, clock)
    found = records.read(path)
    rate = clock.read(len(found))
    faults = faults_of(chosen, found, process.returncode, told.read_text())
    faults += place.left()
    result = {
        "part": "attempts",
        **rate,
        "verdicts": dict(Counter(record["verdict"] for record in found)),
        "trends": {name: str(one) for name, one in census.trends(rows).items()},
        "faults": faults,
        "census": rows,
    }
    place.store("attempts", result)
    return result


def stored(out: Path) -> dict[str, dict]:
    """Records of an earlier call, by path; none if there was none."""
    path = out / "attempts.jsonl"
    return records.by_path(records.read(path)) if path.exists() else {}
