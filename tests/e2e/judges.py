# SPDX-License-Identifier: Apache-2.0
"""A small evaluator for tests of the judges: starts a world, speaks docs/protocol.md section 2."""

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.e2e.processes import HUNG_S

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


class Judges:
    """`world` judges with an open problem; a context manager."""

    def __init__(
        self,
        problem: str,
        world: int,
        timeout_s: float = 5,
        sizes: str = "tiny",
        device: tuple[str, ...] = ("cpu",),
    ):
        """`device`: the value of --device, and options that go with it."""
        self.world = world
        self.work = Path(tempfile.mkdtemp(prefix="pkj", dir="/tmp"))
        self.events: list[dict] = []
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(self.work / "control.sock"))
        self.listener.listen(world)
        self._write_plan(problem, sizes, device[0])
        command = ["mpirun", "--bind-to", "none", "--allow-run-as-root", "--oversubscribe"]
        command += ["--mca", "plm", "isolated", "--mca", "orte_tmpdir_base", str(self.work)]
        command += ["-n", str(world), str(BUILD / "pkbench-judge"), "--work", str(self.work)]
        command += ["--python", sys.executable, "--root", str(ROOT), "--timeout", str(timeout_s)]
        command += ["--device", *device]
        self.log = open(self.work / "log.txt", "wb")  # noqa: SIM115
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        self.channels: dict[int, socket.socket] = {}
        self.pids: dict[int, int] = {}
        for _ in range(world):
            channel, _ = self.listener.accept()
            hello = json.loads(channel.recv(1 << 18))
            self.channels[hello["rank"]] = channel
            self.pids[hello["rank"]] = hello["pid"]

    def _write_plan(self, problem: str, sizes: str, device: str) -> None:
        command = [sys.executable, "-m", "harness.runner.resolve", problem, "-n", str(self.world)]
        plan = subprocess.run(
            [*command, "--sizes", sizes, "--device", device],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        (self.work / "plan.json").write_bytes(plan.stdout)

    def __enter__(self) -> "Judges":
        return self

    def __exit__(self, *_) -> None:
        for channel in self.channels.values():
            channel.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()
        self.listener.close()
        shutil.rmtree(self.work, ignore_errors=True)

    def send(self, **request) -> None:
        for channel in self.channels.values():
            channel.send(json.dumps(request).encode())

    def wait_for(self, name: str, count: int = 1, timeout_s: float = HUNG_S) -> list[dict]:
        """The next `count` events of that name; fails at an error event or the judges' end."""
        found: list[dict] = []
        deadline = time.monotonic() + timeout_s
        while len(found) < count:
            left = deadline - time.monotonic()
            assert left > 0, f"no {name} in {timeout_s} s: {self.events[-5:]}\n{self.text()}"
            ready, _, _ = select.select(list(self.channels.values()), [], [], left)
            for channel in ready:
                data = channel.recv(1 << 18)
                assert data, f"a judge is gone:\n{self.text()}"
                event = json.loads(data)
                self.events.append(event)
                assert event["event"] != "error", f"{event}\n{self.text()}"
                if event["event"] == name:
                    found.append(event)
        return found

    def open(self) -> None:
        secret = os.urandom(32).hex()
        self.send(verb="open", plan=str(self.work / "plan.json"), secret=secret)
        self.wait_for("opened", self.world)

    def attempt(self, host: Path, sandbox: str = "full", **fields) -> dict:
        """Judges an attempt without device code and returns its verdict."""
        device = self.work / "empty.so"
        device.touch()
        self.send(
            verb="attempt", id="t", host=str(host), device=str(device), sandbox=sandbox, **fields
        )
        return self.wait_for("verdict")[0]

    def text(self) -> str:
        self.log.flush()
        return (self.work / "log.txt").read_text(errors="replace")
