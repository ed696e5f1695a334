#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A judge that judges nothing: it speaks the protocol, or breaks it as $FAKE_JUDGE says."""

import errno
import json
import os
import socket
import sys
import time
from pathlib import Path

RANK = int(os.environ["OMPI_COMM_WORLD_RANK"])
MODE = os.environ.get("FAKE_JUDGE", "correct")
MARK = Path(os.environ.get("FAKE_JUDGE_MARK", "/nowhere"))  # of what is done once only


PARENT = os.getppid()


def pause(seconds: float) -> None:
    """Ends with its parent, as a judge does."""
    if os.getppid() != PARENT:
        os._exit(1)
    time.sleep(seconds)


def wait_for(suffix: str) -> None:
    """Until the test has made that file beside the mark."""
    while not MARK.with_suffix(suffix).exists():
        pause(0.005)


LOG = MARK.with_suffix(".log")


def log(word: str) -> None:
    with LOG.open("a") as file:
        file.write(word + "\n")


def say(link: socket.socket, **event) -> None:
    link.send(json.dumps(event).encode())


def take_turn(link: socket.socket, request: dict) -> None:
    if RANK == 0:
        say(link, event="may_time", rank=RANK, size=request["sizes"][0])
        assert json.loads(link.recv(1 << 20)) == {"verb": "time"}


def spend_time(link: socket.socket, request: dict) -> None:
    while MODE == "waits_for_mark" and not MARK.exists():
        pause(0.05)
    if MODE == "times_when_told":
        wait_for(".time")
        take_turn(link, request)
        say(link, event="progress", rank=RANK, size=request["sizes"][0], step="time")
        wait_for(".verdict")
    if MODE in ("logs_turns", "meets_in_turns") and RANK == 0:
        take_turn(link, request)
        log("begin")
        while MODE == "meets_in_turns" and LOG.read_text().count("begin") < 2:
            pause(0.005)
        log("end")
        say(link, event="timed", rank=RANK)


def die_asking(link: socket.socket, request: dict) -> None:
    """Sample 1 asks for its turn while 0 has it, and dies; 2 is timed before that is settled."""
    if RANK != 0:
        return
    sample = request["id"].rsplit("/", 1)[1]
    if sample == "1" and not MARK.exists():
        wait_for(".first")
        say(link, event="may_time", rank=RANK, size=request["sizes"][0])
        pause(1)  # until the lane has asked, too; dead before that, it proves less
        MARK.touch()
        os._exit(9)
    if sample == "control":
        wait_for(".second")
        return
    take_turn(link, request)
    if sample == "0":
        MARK.with_suffix(".first").touch()
        wait_for("")
    if sample == "2":
        MARK.with_suffix(".second").touch()
    say(link, event="timed", rank=RANK)


def print_much(link: socket.socket, request: dict) -> None:
    """As an attempt would, of which sample 0 is wrong."""
    work = Path(sys.argv[sys.argv.index("--work") + 1])
    (work / f"rank{RANK}").write_text(f"rank {RANK} \033[31mred\n" + "x" * (1 << 20) + "end\n")
    (work / f"rank{RANK}").rename(work / f"rank{RANK}.txt")
    # rank 1 has printed before the verdict is there
    while RANK == 0 and not (work / "rank1.txt").exists():
        pause(0.005)
    if RANK == 0 and request["id"].endswith("/0"):
        say(link, event="verdict", verdict="WRONG_OUTPUT", reason="y differs", sizes=[])


def tell_of_kill(link: socket.socket, request: dict) -> None:
    """Once, or always. Another size of the attempt is wrong, which hides it."""
    if MODE != "cell_is_killed":
        MARK.touch()
    killed = {"verdict": "CRASH", "reason": "killed by SIGKILL", "where": {"signal": 9}}
    found = {"verdict": "OUT_OF_BOUNDS", "reason": "beyond y"} if "hidden" in MODE else killed
    sizes = [{"size": request["sizes"][0], **found}, {"size": "tiny_row", **killed}]
    say(link, event="verdict", **found, sizes=sizes, killed=True)


def judge(link: socket.socket, request: dict, attempts: int) -> None:
    """The attempt number `attempts` of this rank."""
    if RANK == 0:  # the others do not hold up the verdict, after which files may go
        assert Path(request["host"]).exists()
        assert Path(request["device"]).exists()
    say(link, event="progress", rank=RANK, size=request["sizes"][0], step="check 1/1")
    spend_time(link, request)
    if MODE == "prints_much":
        print_much(link, request)
        if request["id"].endswith("/0"):
            return
    if MODE == "dies_asking":
        die_asking(link, request)
    is_control = request["id"].endswith("/control")
    if MODE == "dies_in_attempt" or (MODE == "dies_but_in_controls" and not is_control):
        os._exit(9)
    if MODE == "runs_out_but_in_controls" and not is_control:
        say(link, event="error", rank=RANK, code="io", detail=errno.EMFILE, message="no pipe")
    if MODE == "says_infra_error_but_in_controls" and RANK == 0 and not is_control:
        say(link, event="verdict", verdict="INFRA_ERROR", reason="it never stands still")
        return
    is_second = RANK == 0 and attempts == 2
    if MODE == "dies_in_second_attempt_once" and is_second and not MARK.exists():
        MARK.touch()
        os._exit(9)
    if RANK == 0 and MODE.startswith("cell_is_killed") and not MARK.exists():
        tell_of_kill(link, request)
        return
    if MODE == "waits_in_second_attempt" and is_second:
        MARK.touch()
        while not MARK.with_suffix(".go").exists():
            pause(0.02)
    if MODE == "no_json":
        link.send(b"{")
    if MODE == "unknown_event":
        say(link, event="applause", rank=RANK)
    if MODE == "unknown_verdict" and RANK == 0:
        say(link, event="verdict", verdict="FINE")
    if RANK == 0:
        say(
            link,
            event="verdict",
            verdict="CORRECT",
            sizes=[{"size": size, "verdict": "CORRECT"} for size in request["sizes"]],
        )


def main() -> int:
    work = sys.argv[sys.argv.index("--work") + 1]
    if MODE == "dies_at_once":
        print("no such library", file=sys.stderr)
        return 7
    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    link.connect(f"{work}/control.sock")

    attempts = 0
    say(link, event="hello", rank=99 if MODE == "wrong_rank" else RANK, pid=os.getpid())
    while True:
        text = link.recv(1 << 20)
        request = json.loads(text) if text else {"verb": "close"}
        if request["verb"] == "close":
            return 0
        if request["verb"] == "open":
            plan = json.loads(Path(request["plan"]).read_text())
            assert plan["plan"] == 1
            assert len(request["secret"]) == 64
            if MODE == "error_at_open":
                say(link, event="error", rank=RANK, code="child", message="no memory for the pool")
            say(link, event="opened", rank=RANK)
        elif request["verb"] == "attempt":
            attempts += 1
            judge(link, request, attempts)


if __name__ == "__main__":
    sys.exit(main())
