# SPDX-License-Identifier: Apache-2.0
"""Rewards from `pkbench worker`: python docs/worker/reward.py PROBLEM FILE.cu... [OPTION...]"""

import json
import subprocess
import sys
from pathlib import Path


def rewards(problem, sources, options):
    """0 for a source that is wrong, 1 for one that is right, its speed-up where that is known."""
    command, scores = ["build/pkbench", "worker", *options], [0.0] * len(sources)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as w:
        assert json.loads(w.stdout.readline())["ready"]
        for number, source in enumerate(sources):  # a few; for many write from another thread
            request = {"request": number, "problem": problem, "source": source}
            w.stdin.write(json.dumps(request) + "\n")
        w.stdin.close()
        for answer in map(json.loads, w.stdout):
            record = answer.get("record", {})
            if record.get("verdict") == "CORRECT":
                found = [size["speedup"] for size in record["sizes"] if "speedup" in size]
                speedups = [speedup["eager"]["value"] for speedup in found]
                scores[answer["request"]] = min(speedups, default=1.0)
    return scores


if __name__ == "__main__":
    files = [word for word in sys.argv[2:] if word.endswith(".cu")]
    options = [word for word in sys.argv[2:] if word not in files]
    print(*rewards(sys.argv[1], [Path(file).read_text() for file in files], options))
