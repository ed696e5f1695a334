# SPDX-License-Identifier: Apache-2.0
"""Folders of attempts for tests of `pkbench eval DIR`, and what comes out of them."""

import json
from pathlib import Path

from tests.e2e.command import ROOT, Answer

HONEST = ROOT / "examples" / "001_allreduce.cu"
QUICK = ("--device", "cpu", "--sizes", "tiny", "--no-timing", "--timeout", "5")


def put(folder: Path, name: str, source: Path | str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source if isinstance(source, str) else source.read_text())


def records_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def results_file(folder: Path, world: int = 2, shard: str = "") -> Path:
    (path,) = (folder / "results").glob(f"*-cpu-P{world}{shard}.jsonl")
    return path


def demand(answer: Answer, status: int, *words: str) -> None:
    assert answer.status == status, answer
    for word in words:
        assert word in answer.err, answer.err
