# SPDX-License-Identifier: Apache-2.0
"""How long inputs take to draw and what is expected to compute: `python -m tests.bench.draws
[PROBLEM...] [--sizes tiny,pkb,large] [-n 2]` prints a Markdown table.

One rank's draw and oracle, on one thread, in a process of its own with limits on memory and time.
Seconds are of the processor, so that other load on the machine matters little.
"""

import argparse
import multiprocessing
import resource
import time

import torch

from harness.runner.audit.options import pick_problems
from harness.runner.audit.scene import Place, Scene, places_of

MOST_BYTES, MOST_CPU_S, MOST_S = 20 << 30, 90, 180


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.draws", description=__doc__)
    parser.add_argument("problems", nargs="*", metavar="PROBLEM")
    parser.add_argument("--sizes", default="tiny,pkb,large")
    parser.add_argument("-n", "--ranks", type=int, default=2)
    options = parser.parse_args()
    print("| problem | size | draw (s) | oracle (s) | memory (MiB) |\n|---|---|---|---|---|")
    for problem in pick_problems(options.problems):
        for size_class in options.sizes.split(","):
            names = [size.name for size in problem.sizes if size.size_class == size_class][:1]
            place = places_of(problem, names, [options.ranks], "cpu")[-1]
            cells = " | ".join(_measured(place))
            print(f"| {problem.id} | {place.size} {place.grid} | {cells} |", flush=True)


def _measured(place: Place) -> tuple[str, str, str]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(place, there))
    process.start()
    there.close()
    found = []
    deadline = time.monotonic() + MOST_S
    try:
        while len(found) < 3 and here.poll(max(0, deadline - time.monotonic())):
            found.append(here.recv())
    except EOFError:
        pass  # a limit was reached
    if len(found) < 3:
        process.kill()
    process.join()
    return tuple([*found, *["more"] * (3 - len(found))])


def _measure(place: Place, pipe) -> None:
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
    start = time.process_time()
    scene = Scene(place.case("bench"))
    drawn = time.process_time()
    pipe.send(_seconds((drawn - start) / place.world))
    rank = place.world - 1
    context = scene.case.context(scene.resolved, rank, scene.seed)
    scene.case.run_oracle(context, scene.resolved, scene.inputs)
    pipe.send(_seconds(time.process_time() - drawn))
    pipe.send(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10))


def _seconds(value: float) -> str:
    return f"{value:.2g}" if value >= 0.01 else "< 0.01"


if __name__ == "__main__":
    main()
