# SPDX-License-Identifier: Apache-2.0
"""Runs the built command as a user would and reads what it says."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.processes import HUNG_S

ROOT = Path(__file__).resolve().parents[2]
PKBENCH = ROOT / "build" / "pkbench"


@dataclass
class Answer:
    """How one call of pkbench ended: exit status, stdout, stderr."""

    status: int
    out: str
    err: str

    @property
    def record(self) -> dict:
        """The one JSON record on stdout; fails with the whole output if there is none."""
        assert self.out.strip(), f"no record; exit {self.status}; stderr:\n{self.err}"
        return json.loads(self.out)


def pkbench(*arguments, timeout_s: float = HUNG_S, env: dict | None = None, **options) -> Answer:
    """Runs `pkbench arguments...`; `env` is added to the environment."""
    done = subprocess.run(
        [str(PKBENCH), *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout_s,
        env={**os.environ, **(env or {})},
        **options,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace"))


def judge(source: Path, *arguments, **options) -> Answer:
    """Judges one attempt on the CPU device and asks for the record."""
    return pkbench("eval", source, "--device", "cpu", "--json", *arguments, **options)
