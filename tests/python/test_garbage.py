# SPDX-License-Identifier: Apache-2.0
"""A runner lives through thousands of attempts: a size that was open leaves nothing behind."""

import argparse
import gc
import os
import socket
from types import SimpleNamespace

import pytest

from harness.runner import serve
from harness.runner.problem import find, load
from harness.runner.resolve import resolve_all
from tests.python.judge import Judge


class Opposite(Judge):
    """Opposite a runner in this process."""

    def __init__(self, channel: socket.socket):
        self.rank, self.world, self.channel = 0, 1, channel

    def forget(self) -> None:
        del self.page
        for memory in (self.slots, self.pool, self.memory):
            memory.bytes = None
            os.close(memory.fd)


@pytest.fixture
def runner(monkeypatch):
    """A runner of one rank, and the socket to it; no process group."""
    monkeypatch.setattr(serve, "Groups", lambda *_: SimpleNamespace(of=lambda _: {}))
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    options = argparse.Namespace(rank=0, world=1, device="cpu", gpu=0, timeout=20)
    yield serve.Server(theirs, options), ours
    gc.unfreeze()
    gc.enable()
    ours.close()
    theirs.close()


def ask(runner: serve.Server, judge: Judge, verb: str, **fields) -> None:
    judge.send(verb, **fields)
    assert runner.serve_one()
    assert judge.answer()["ok"]


@pytest.mark.parametrize("number", ["1", "61"])
def test_what_was_open_is_collected(runner, number):
    server, ours = runner
    problem = load(find(number))
    counts = []
    for _ in range(12):
        judge = Opposite(ours)
        judge.send_open(resolve_all(problem, problem.size("tiny"), 1)[0], "", "5e" * 32)
        assert server.serve_one()
        assert judge.answer()["ok"]
        ask(server, judge, "draw", entry=0, trial=0, family=problem.families[0])
        judge.forget()
        counts.append(len(gc.get_objects()))
    assert counts[-1] - counts[3] < 8, counts
