# SPDX-License-Identifier: Apache-2.0
"""`make install` and what it leaves: a command that finds its parts, and that goes away whole."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e.command import ROOT
from tests.e2e.processes import HUNG_S


@pytest.fixture
def installed(tmp_path) -> Path:
    """The command of `make install` with a relative PREFIX."""
    command = [ROOT / "tools" / "install.sh", "some/where"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=HUNG_S, stdout=subprocess.DEVNULL)
    return tmp_path / "some" / "where"


def test_installed_command(installed):
    command = [installed / "bin" / "pkbench", "doctor", "--json"]
    python = os.environ.get("PKBENCH_PYTHON", ROOT / ".venv" / "bin" / "python")
    environment = {name: os.environ[name] for name in os.environ if name != "PKBENCH_PYTHON"}
    bare = subprocess.run(command, cwd="/", env=environment, capture_output=True, timeout=HUNG_S)
    rows = [row for row in json.loads(bare.stdout) if not row["ok"]]
    assert bare.returncode == 3
    assert rows[0]["name"] == "python"
    assert rows[0]["remedy"].startswith("set PKBENCH_PYTHON")
    assert not [row for row in rows if "setup.sh" in row["remedy"]]
    environment["PKBENCH_PYTHON"] = str(python)
    full = subprocess.run(command, cwd="/", env=environment, capture_output=True, timeout=HUNG_S)
    wrong = {row["name"] for row in json.loads(full.stdout) if not row["ok"]}
    assert not wrong & {"python", "torch", "nvcc", "pkbench-judge", "pkbench-cell"}


def test_uninstall_takes_all_away(installed):
    command = [ROOT / "tools" / "install.sh", "--uninstall", installed]
    assert subprocess.run(command, capture_output=True, timeout=HUNG_S).returncode == 0
    assert [path for path in installed.rglob("*") if path.is_file()] == []
    done = subprocess.run(command, capture_output=True, timeout=HUNG_S)
    assert done.returncode == 1
    assert b"no pkbench" in done.stderr
