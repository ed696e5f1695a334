# SPDX-License-Identifier: Apache-2.0
"""Judges and compilers that are fakes (tests/fakes), as an environment of the command."""

import os
from pathlib import Path

from tests.e2e.command import ROOT

FAKES = ROOT / "tests" / "fakes"


def fake_judge(folder: Path, mode: str) -> dict[str, str]:
    """Makes a folder of programs in which the judge is a fake that does as `mode` says."""
    programs = folder / "programs"
    programs.mkdir()
    for name in ("pkbench-ptx2c", "pkbench-cell"):
        (programs / name).symlink_to(ROOT / "build" / name)
    judge = programs / "pkbench-judge"
    judge.write_text((FAKES / "judge.py").read_text())
    judge.chmod(0o755)
    mark = str(folder / "mark")
    return {"PKBENCH_PROGRAMS": str(programs), "FAKE_JUDGE": mode, "FAKE_JUDGE_MARK": mark}


def fake_bwrap(folder: Path, word: str, *, waits: bool = False) -> dict[str, str]:
    """A bubblewrap first in PATH that leaves two children, whose pids are in mark.bwrap/pids."""
    found = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    (folder / "bin").mkdir()
    (folder / "bin" / "bwrap").symlink_to(FAKES / "bwrap")
    found |= {"FAKE_BWRAP_WORD": word, "FAKE_BWRAP_MARK": str(folder / "mark.bwrap")}
    return {**found, "FAKE_BWRAP_WAITS": "1" if waits else ""}


def fake_nvcc(folder: Path) -> dict[str, str]:
    """Makes a toolkit whose nvcc is a fake, and a cache of its own."""
    toolkit = folder / "toolkit"
    (toolkit / "bin").mkdir(parents=True)
    (toolkit / "lib").mkdir()
    (toolkit / "lib" / "libcudart.so.13").touch()
    (toolkit / "bin" / "nvcc.profile").touch()
    nvcc = toolkit / "bin" / "nvcc"
    nvcc.write_text((FAKES / "nvcc").read_text())
    nvcc.chmod(0o755)
    return {"PKBENCH_NVCC": str(nvcc), "PKBENCH_CACHE": str(folder / "cache")}
