# SPDX-License-Identifier: Apache-2.0
"""python -m tests.gpu.measure STEP --device cuda --out DIR --budget SECONDS: prints a table."""

import argparse
import sys
from pathlib import Path

from tests.gpu.measure import (
    again,
    audits,
    clock,
    killing,
    large,
    sixty,
    spread,
    whole,
    worlds,
    zoo,
)
from tests.gpu.measure.bench import Bench

STEPS = {
    "zoo": zoo.measure,
    "again": again.measure,
    "handover": clock.handover,
    "same": clock.same,
    "tricks": clock.tricks,
    "spread": spread.measure,
    "examples": whole.measure,
    "tutorial": whole.tutorial,
    "folder": whole.folder,
    "suite": whole.suite,
    "sixty": sixty.measure,
    "kill": killing.measure,
    "refusals": killing.refusals,
    "worlds": worlds.measure,
    "calibrate": audits.calibrate,
    "audit": audits.audit,
    "large": large.measure,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.measure", description=__doc__)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--out", type=Path, required=True, help="folder for records")
    parser.add_argument(
        "--budget", type=float, default=100, help="seconds; then nothing new begins"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print(STEPS[options.step](Bench(options.device, options.out, options.budget, options.step)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
