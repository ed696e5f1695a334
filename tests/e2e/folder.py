# SPDX-License-Identifier: Apache-2.0
"""A folder of attempts, judged by one command whose records are read as they come: ranks start once
for many tests, and each test still waits for, and judges, one attempt.
"""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.e2e.command import PKBENCH

SHOWN_BYTES = 4000  # of stderr, with a failure


class FolderRun:
    """`pkbench eval FOLDER` on the CPU device at tiny sizes, untimed; a context manager."""

    def __init__(self, folder: Path, *options):
        command = [PKBENCH, "eval", folder, "--device", "cpu", "--sizes", "tiny", "--no-timing"]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [str(word) for word in (*command, "--json", *options)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._records: dict[str, dict] = {}

    def record(self, source: Path) -> dict:
        """What was found of the file of that name; fails with what was said if nothing was."""
        while source.name not in self._records:
            line = self._process.stdout.readline()
            if not line:
                status = self._process.wait()
                raise AssertionError(f"no record of {source.name}; exit {status}:\n{self.said()}")
            record = json.loads(line)
            self._records[record["source"]] = record
        return self._records[source.name]

    def said(self) -> str:
        """The end of stderr."""
        fd = self._errors.fileno()  # the command writes where this file's position is
        begin = max(0, os.fstat(fd).st_size - SHOWN_BYTES)
        return os.pread(fd, SHOWN_BYTES, begin).decode(errors="replace")

    def __enter__(self) -> "FolderRun":
        return self

    def __exit__(self, *_) -> None:
        """Ends it, should tests have stopped before its last record."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        self._process.stdout.close()
        try:
            self._process.wait(60)
        finally:
            self._process.kill()
            self._errors.close()


def wanted(request, parameter: str) -> Iterable[dict]:
    """The parameters of those tests of this session and module that have one of that name."""
    for item in request.session.items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if item.path == request.path and parameter in parameters:
            yield parameters
