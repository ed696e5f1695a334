# SPDX-License-Identifier: Apache-2.0
"""Rewards from `pkbench worker`: python3 docs/worker/reward.py PROBLEM FILE.cu... [OPTION...]"""

import json
import subprocess
import sys
from pathlib import Path
from statistics import geometric_mean


def reward(record):
    """0 for what is wrong, 1 for what is right, its speed-up where a GPU measured it."""
    if record["verdict"] in ("INFRA_ERROR", "UNSUPPORTED"):
        return None  # nobody knows: ask again or leave the sample out, but punish nobody for it
    if record["verdict"] != "CORRECT":
        return 0.0
    if record["device"] == "cpu":
        return 1.0  # times of the CPU device say nothing about a GPU
    scored = [size for size in record["sizes"] if size["class"] != "tiny" and "speedup" in size]
    return geometric_mean([size["speedup"]["eager"]["value"] for size in scored] or [1.0])


def rewards(problem, sources, options):
    """The reward of each source."""
    command, found = ["build/pkbench", "worker", *options], [None] * len(sources)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as w:
        assert json.loads(w.stdout.readline())["ready"]
        for number, source in enumerate(sources):  # a few; for many write from another thread
            request = {"request": number, "problem": problem, "source": source}
            w.stdin.write(json.dumps(request) + "\n")
        w.stdin.close()
        for answer in map(json.loads, w.stdout):
            if "error" in answer:  # of the question, not of the source
                raise SystemExit(f"request {answer['request']}: {answer['error']['message']}")
            found[answer["request"]] = reward(answer["record"])
    return found


if __name__ == "__main__":
    files = [word for word in sys.argv[2:] if word.endswith(".cu")]
    options = [word for word in sys.argv[2:] if word not in files]
    if not files:
        raise SystemExit(__doc__)
    print(*rewards(sys.argv[1], [Path(file).read_text() for file in files], options))
