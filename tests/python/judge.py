# SPDX-License-Identifier: Apache-2.0
"""A judge for tests: makes a rank's regions, starts its runner, speaks docs/protocol.md."""

import ctypes
import fcntl
import mmap
import os
import socket
import subprocess
import sys
import time

import torch

from harness.runner import protocol
from harness.runner.memory import TORCH_DTYPES, bytes_of, oracle_dtype
from harness.runner.page import Page
from harness.runner.problem import ROOT, Problem
from harness.runner.resolve import Resolved

GUARD_BYTES = 4096
PAGE_BYTES = -(-ctypes.sizeof(Page) // 4096) * 4096
SLOTS, ENTRIES = 3, 4
TIMEOUT_S = 30
SYS_FUTEX, FUTEX_WAKE = 202, 1  # x86-64


def up(value: int, step: int = 256) -> int:
    return -(-value // step) * step


class Memory:
    """One sealed region, mapped here as well."""

    def __init__(self, size_bytes: int):
        self.size_bytes = size_bytes
        self.fd = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, size_bytes)
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, seals)
        self.map = mmap.mmap(self.fd, size_bytes)
        self.bytes = torch.frombuffer(self.map, dtype=torch.uint8)

    def view(self, offset: int, shape: list[int], dtype: torch.dtype) -> torch.Tensor:
        return self.bytes[offset : offset + bytes_of(shape, dtype)].view(dtype).view(shape)


def make_layout(resolved: Resolved) -> dict:
    """As harness/memory/layout.c places things: same offsets on all ranks, guards between."""
    cursor, oracle = GUARD_BYTES, 0
    places = []
    for argument in resolved.problem.arguments:
        if argument.role == "scalar":
            continue
        shapes = [resolved.shape(argument, rank) for rank in range(resolved.world)]
        extent = max(bytes_of(shape, TORCH_DTYPES[argument.dtype]) for shape in shapes)
        expected = max(bytes_of(shape, oracle_dtype(argument.dtype)) for shape in shapes)
        places.append({"name": argument.name, "offset": cursor, "oracle_offset": oracle})
        cursor = up(cursor + extent) + GUARD_BYTES
        oracle += 2 * up(expected) if argument.is_output else 0
    image = up(cursor, 4096)
    entry = 2 * image + up(oracle, 4096)
    return {
        "slots_bytes": SLOTS * image,
        "slot_stride": image,
        "slot_count": SLOTS,
        "pool_bytes": ENTRIES * entry,
        "entry_stride": entry,
        "entry_count": ENTRIES,
        "reference_offset": image,
        "oracle_offset": 2 * image,
        "page_bytes": PAGE_BYTES,
        "arguments": places,
    }


class Judge:
    """One rank's judge."""

    def __init__(self, rank: int, world: int, timeout_s: float = 20):
        self.rank = rank
        self.world = world
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel.settimeout(TIMEOUT_S)
        fd = str(theirs.fileno())
        command = [sys.executable, "-m", "harness.runner", "--fd", fd, "--rank", str(rank)]
        command += ["--world", str(world), "--device", "cpu", "--timeout", str(timeout_s)]
        self.process = subprocess.Popen(
            command, cwd=ROOT, pass_fds=[theirs.fileno()], stderr=subprocess.PIPE
        )
        theirs.close()

    # ---- messages ----

    def send(self, verb: str, fds: tuple[int, ...] = (), **fields) -> None:
        protocol.send(self.channel, {"verb": verb, **fields}, fds)

    def answer(self) -> dict:
        return protocol.receive(self.channel)[0]

    def ask(self, verb: str, **fields) -> dict:
        self.send(verb, **fields)
        return self.answer()

    def send_open(self, resolved: Resolved, store: str, secret: str, **changes) -> None:
        """Makes the regions of a size and sends `open`; the answer comes by `answer`."""
        problem: Problem = resolved.problem
        self.resolved = resolved
        self.layout = make_layout(resolved)
        self.offsets = {place["name"]: place for place in self.layout["arguments"]}
        names = ("slots_bytes", "pool_bytes", "page_bytes")
        self.slots, self.pool, self.memory = (Memory(self.layout[name]) for name in names)
        self.page = Page.from_buffer(self.memory.map)
        request = {
            "problem_file": str(problem.path),
            "size": resolved.size.name,
            "grid": str(resolved.grid),
            "secret": secret,
            "store": store,
            "layout": self.layout,
        }
        self.send("open", (self.slots.fd, self.pool.fd, self.memory.fd), **{**request, **changes})

    # ---- memory ----

    def tensor(self, where: str, index: int, name: str, resolved: Resolved | None = None):
        """An argument in "slot" `index`, or in the "inputs", "reference", "oracle" of an entry."""
        resolved = resolved or self.resolved
        argument = resolved.problem.argument(name)
        shape = resolved.shape(argument, self.rank)
        place, layout = self.offsets[name], self.layout
        if where == "slot":
            base = index * layout["slot_stride"] + place["offset"]
            return self.slots.view(base, shape, TORCH_DTYPES[argument.dtype])
        base = index * layout["entry_stride"]
        if where == "oracle":
            base += layout["oracle_offset"] + place["oracle_offset"]
            return self.pool.view(base, shape, oracle_dtype(argument.dtype))
        base += layout["reference_offset"] if where == "reference" else 0
        return self.pool.view(base + place["offset"], shape, TORCH_DTYPES[argument.dtype])

    def fill_slot(self, slot: int, entry: int, poison: int = 0x5A) -> None:
        """Inputs of a pool entry into a slot, everything else in it poisoned."""
        stride, begin = self.layout["slot_stride"], entry * self.layout["entry_stride"]
        target = self.slots.bytes[slot * stride : (slot + 1) * stride]
        target.fill_(poison)
        for argument in self.resolved.problem.arguments:
            if argument.is_input and self.resolved.present(argument, self.rank):
                shape = self.resolved.shape(argument, self.rank)
                size = bytes_of(shape, TORCH_DTYPES[argument.dtype])
                offset = self.offsets[argument.name]["offset"]
                source = self.pool.bytes[begin + offset : begin + offset + size]
                target[offset : offset + size].copy_(source)

    # ---- page ----

    def go(self, command: int) -> int:
        self.page.command = command
        number = self.page.go + 1
        self.page.go = number
        ctypes.CDLL(None).syscall(
            SYS_FUTEX, ctypes.c_void_p(ctypes.addressof(self.page)), FUTEX_WAKE, 64, None, None, 0
        )
        return number

    def wait_done(self, number: int) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while self.page.done != number:
            assert time.monotonic() < deadline, f"rank {self.rank} is not done"
            time.sleep(0.0005)

    # ---- end ----

    def wait_exit(self, timeout_s: float = 10) -> int:
        return self.process.wait(timeout_s)

    def kill(self) -> None:
        self.channel.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()
