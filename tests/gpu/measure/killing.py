# SPDX-License-Identifier: Apache-2.0
"""Kill -9 of each kind of process while an attempt hangs, and input that is refused: nothing may
stay behind, neither a process nor GPU memory nor a file.
"""

import os
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e.command import PKBENCH, ROOT, pkbench
from tests.e2e.processes import descendants, kill, look, wait_until
from tests.e2e.test_kill import VICTIMS, is_victim
from tests.gpu.measure.bench import COPIES, Bench, slim, table
from tests.gpu.measure.memory import holders, used_mib
from tests.gpu.measure.world import World

REPEATS = 4
LIMIT_S = 5
SLACK_MIB = 64
EXAMPLE = ROOT / "examples" / "001_allreduce.cu"
HANGS = ROOT / "tests" / "zoo" / "001_hangs_on_host.cu"
BROKEN = ROOT / "tests" / "zoo" / "001_does_not_compile.cu"


def files_in(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file()]


def kill_one(bench: Bench, victim: str) -> dict:
    """What is left LIMIT_S after a kill, and how the command ended."""
    mark, wanted = VICTIMS[victim]
    scratch = Path(tempfile.mkdtemp(prefix="pkb-k", dir="/tmp"))
    environment = {"PKBENCH_TMPDIR": str(scratch)}
    command = [PKBENCH, "eval", HANGS, "--device", bench.device, "--sizes", "tiny"]
    run = subprocess.Popen(
        [*command, "--timeout", "60"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    )
    try:
        result = strike(run, victim, mark)
    finally:
        run.kill()
    result.update(victim=victim, wanted=wanted, files=len(files_in(scratch)))
    if mark is None:  # the next start sweeps what a killed evaluator left
        pkbench("eval", BROKEN, "--device", bench.device, "--sizes", "tiny", env=environment)
        result["files"] = len(files_in(scratch))
    shutil.rmtree(scratch, ignore_errors=True)
    result["holds"] = (
        result["alive"] == [] and result["files"] == 0 and result["status"] == wanted
    )  # fmt: skip
    return result


def strike(run: subprocess.Popen, victim: str, mark: str | None) -> dict:
    def cells() -> int:
        return sum(is_victim(process, "pkbench-cell") for process in descendants(run.pid))

    if not wait_until(lambda: cells() >= 2, 60):
        return {"alive": ["no cells came up"], "status": run.poll(), "message": ""}
    time.sleep(1.5)  # the attempt is loaded and hangs
    tree = [*descendants(run.pid), look(run.pid)]
    chosen = tree[-1] if mark is None else next(p for p in tree if is_victim(p, mark))
    begin = time.monotonic()
    kill(chosen)
    wait_until(lambda: not any(process.is_alive() for process in tree), LIMIT_S)
    gone_s = time.monotonic() - begin
    alive = [process.command[:80] for process in tree if process.is_alive()]
    alive += [f"{process.pid} on a GPU" for process in tree if process.pid in holders()]
    try:
        _, errors = run.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        return {"alive": [*alive, "the command"], "gone_s": LIMIT_S, "status": "hangs"}
    message = errors.decode(errors="replace").strip().splitlines()
    return {
        "alive": alive,
        "gone_s": round(gone_s, 2),
        "status": run.returncode,
        "message": " / ".join(line for line in message if "took:" not in line)[-200:],
    }


def measure(bench: Bench) -> str:
    """Sessions side by side, but for the cell's: its judges compare the GPUs' memory in use."""
    repeats, workers = (REPEATS, 4) if bench.is_gpu else (1, 1)
    base = used_mib()
    found, memory = [], []
    with ThreadPoolExecutor(workers) as pool:
        for _ in range(repeats):
            if bench.left_s() < 35:
                break
            others = [victim for victim in VICTIMS if victim != "cell"]
            found += pool.map(lambda victim: kill_one(bench, victim), others)
            memory.append(memory_left(base))
            found.append(kill_one(bench, "cell"))
            memory.append(memory_left(base))
    bench.store("kill", [*found, {"gpu_mib_before": base, "mib_left_after_each_round": memory}])
    rows = [
        kill_row(victim, [one for one in found if one["victim"] == victim]) for victim in VICTIMS
    ]
    text = table("killed | n | as wanted | all gone within s | exit | what is left, message", rows)
    return text + f"GPU memory beyond the base line {base} MiB after each round: {memory} MiB\n"


def memory_left(base: list[int]) -> int:
    """MiB that are in use beyond the base line LIMIT_S later, at most."""
    wait_until(lambda: above(base) <= SLACK_MIB, LIMIT_S)
    return above(base)


def above(base: list[int]) -> int:
    return max((now - before for now, before in zip(used_mib(), base, strict=True)), default=0)


def kill_row(victim: str, found: list[dict]) -> str:
    held = sum(one["holds"] for one in found)
    slowest = max((one.get("gone_s", 0) for one in found), default=0)
    status = sorted({str(one["status"]) for one in found})
    bad = next((one for one in found if not one["holds"]), found[0] if found else {})
    told = f"{bad.get('alive', '')} {bad.get('files', '')} files: {bad.get('message', '')}"
    return f"{victim} | {len(found)} | {held} | {slowest:.2f} | {','.join(status)} | {told[:160]}"


# ---- what is refused ----

REFUSED = [
    (["-n", "64"], 2, "64 ranks need a GPU each"),
    (["--gpus", "0"], 2, "2 ranks need a GPU each"),
    (["--gpus", "0,63"], 2, "no GPU 63"),
    (["--gpus", "0,0"], 2, "--gpus wants"),
    (["--gpus", "one"], 2, "--gpus wants"),
    (["--gpus", ""], 2, "--gpus wants"),
]


def refusals(bench: Bench) -> str:
    rows = []
    for options, status, words in REFUSED if bench.is_gpu else []:
        answer = pkbench("eval", EXAMPLE, "--device", "cuda", *options)
        holds = answer.status == status and words in answer.err
        rows.append(refusal_row(" ".join(options), holds, f"{answer.status}: {answer.err.strip()}"))
    rows += [*no_room(bench), *greedy(bench)]
    return table("what | as wanted | what came", rows)


def refusal_row(what: str, holds: bool, got: str) -> str:
    return f"{what} | {'yes' if holds else 'NO'} | {got[:200]}".replace("\n", " ")


def no_room(bench: Bench) -> list[str]:
    """A size of 186 GiB a rank."""
    if not bench.is_gpu:
        return []
    with World(bench, str(COPIES), "too_large") as world:
        (built,) = bench.build_all(bench.copies("HONEST")).values()
        event = world.judge(built, "too_large")
    bench.store("refusals", [{"what": "no room", **slim(event)}])
    holds = event["verdict"] == "INFRA_ERROR" and "MiB" in event.get("reason", "")
    return [refusal_row("a size larger than the GPU", holds, event.get("reason", ""))]


def greedy(bench: Bench) -> list[str]:
    """An attempt that takes all memory is told so; the next one finds all as before."""
    size = "copies" if bench.is_gpu else "tiny"
    base, rows = used_mib(), []
    built = bench.build_all(bench.copies("GREEDY", "HONEST") if bench.is_gpu else
                            bench.copies("HONEST"))  # fmt: skip
    wanted = {"greedy": "RESOURCE_LIMIT", "honest": "CORRECT"}
    with World(bench, str(COPIES), size) as world:
        for kind, attempt in built.items():
            event = world.judge(attempt, size)
            bench.store("refusals", [{"what": kind, **slim(event)}])
            what = "takes all GPU memory" if kind == "greedy" else "an honest one after it"
            told = f"{event['verdict']}: {event.get('reason', '')}"
            rows.append(refusal_row(what, event["verdict"] == wanted[kind], told))
    left = memory_left(base)
    rows.append(refusal_row("GPU memory afterwards", left <= SLACK_MIB, f"{left} MiB more"))
    return rows
