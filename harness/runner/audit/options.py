# SPDX-License-Identifier: Apache-2.0
"""What an audit and a calibration are asked alike, and how both end."""

import argparse
import sys
import traceback
from collections.abc import Callable

from harness.runner.audit.scene import Place, places_of
from harness.runner.memory import MemoryFault
from harness.runner.problem import ROOT, Problem, ProblemError, find, load
from harness.runner.resolve import MAX_RANKS, pick_sizes

FAULTS_FOUND, USAGE, FAILED, INTERRUPTED = 1, 2, 3, 130
CPU_WORLDS = "2,4,8"


def add_options(parser: argparse.ArgumentParser, sizes: str) -> None:
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help="number, name or file")
    parser.add_argument("-n", "--ranks", default="", help="world sizes")
    parser.add_argument("--sizes", default=sizes, help="names or classes of sizes, or all")
    parser.add_argument("--seeds", type=int, default=3, help="draws by secret")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--json", action="store_true", help="everything, on standard output")


def pick_problems(words: list[str]) -> list[Problem]:
    paths = [find(word) for word in words] or sorted((ROOT / "problems").glob("[0-9]*.json"))
    return [load(path) for path in paths]


def pick_worlds(options: argparse.Namespace) -> list[int]:
    """The worlds asked for; fills in the default and checks that there are so many GPUs."""
    gpus = _gpus() if options.device == "cuda" else MAX_RANKS
    if not options.ranks:
        options.ranks = CPU_WORLDS if options.device == "cpu" else str(gpus)
    words = [word.strip() for word in options.ranks.split(",")]
    if not all(word.isdigit() and 2 <= int(word) <= MAX_RANKS for word in words):
        raise ProblemError(
            f"-n wants numbers of ranks from 2 to {MAX_RANKS}, not '{options.ranks}'"
        )
    worlds = [int(word) for word in words]
    if max(worlds) > gpus:
        raise ProblemError(f"{max(worlds)} ranks need as many GPUs, here are {gpus}: use -n")
    if options.seeds < 2:
        raise ProblemError("--seeds wants at least 2: what never varies shows in several draws")
    return worlds


def _gpus() -> int:
    import torch

    count = torch.cuda.device_count()
    if count < 2:
        raise ProblemError(f"--device cuda needs two GPUs or more, here are {count}")
    return count


def places_asked(problem: Problem, options: argparse.Namespace, worlds: list[int]) -> list[Place]:
    names = [size.name for size in pick_sizes(problem, options.sizes)]
    places = places_of(problem, names, worlds, options.device)
    if not places:
        raise ProblemError(
            f"{problem.name} is possible at none of P = {options.ranks}: its conditions are "
            + ", ".join(problem.require)
        )
    return places


def guarded(run: Callable[[list[str]], int]) -> int:
    """The exit status of `run`: a failure of ours is none of the suite's faults."""
    try:
        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return INTERRUPTED
    except (MemoryFault, OSError) as error:
        print(f"pkbench: {error}", file=sys.stderr)
    except Exception:
        traceback.print_exc()
    return FAILED
