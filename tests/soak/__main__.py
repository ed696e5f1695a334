# SPDX-License-Identifier: Apache-2.0
"""python -m tests.soak PART...: prints what was found as JSON; 1 if something did not hold."""

import argparse
import json
import math
import os
import sys
import time
from pathlib import Path

from tests.soak import attempts, kills, worker
from tests.soak.place import Place

PARTS = {
    "attempts": lambda place, options: attempts.measure(place, options.attempts),
    "kills": lambda place, options: kills.measure(
        place, options.kills, options.pause, options.seed
    ),
    "worker": lambda place, options: worker.measure(
        place,
        worker.schedule(options.requests, options.seed, options.every),
        options.out / "attempts",
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--out", type=Path, default=Path("build/soak"), help="for records")
    parser.add_argument(
        "--seconds", type=float, default=math.inf, help="of each part; then nothing new begins"
    )
    parser.add_argument("--attempts", type=int, default=200, help="of the folder, at most")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument(
        "--pause", type=float, help="mean seconds between kills (default: as the machine is)"
    )
    parser.add_argument("--requests", type=int, default=1000, help="to the worker")
    parser.add_argument("--every", type=int, default=1, help="the worker gets each Nth attempt")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn here")
    parser.add_argument("--cache", type=Path, help="of builds, that stays (default: a new one)")
    parser.add_argument("--nice", type=int, default=4, help="others may need the machine, too")
    options = parser.parse_args()
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    os.nice(options.nice)
    holds = True
    for part in options.parts or PARTS:
        until = time.monotonic() + options.seconds
        with Place(options.out / part, options.cache, until) as place:
            result = PARTS[part](place, options)
        shown = {key: value for key, value in result.items() if key != "census"}
        print(json.dumps(shown, indent=1, ensure_ascii=False), flush=True)
        holds = holds and not result["faults"]
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
