# SPDX-License-Identifier: Apache-2.0
"""Records of one attempt from two ways of judging: equal but for times, and which way it was."""

import json
import re
from pathlib import Path

from tests.soak.corpus import Attempt

# Times, the session's draws, that ranks broke before, and what names the way an attempt came in.
LEFT_OUT = {"cost_s", "secret", "control", "id", "run", "sample", "judgement"}
TIMED = {"cost_s", "batches", "time_us", "speedup"}


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def count_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def last_of_each(records: list[dict]) -> dict[str, dict]:
    """The later line of an id counts."""
    return {record["id"]: record for record in records}


def by_path(records: list[dict]) -> dict[str, dict]:
    return {f"{record['problem']}/{record['source']}": record for record in records}


def core(record: dict) -> dict:
    """What must not depend on when, where and how often an attempt is judged."""
    kept = {key: value for key, value in record.items() if key not in LEFT_OUT}
    sizes = record.get("sizes", [])
    kept["sizes"] = [{k: v for k, v in size.items() if k not in TIMED} for size in sizes]
    return kept


def differences(mine: dict, other: dict) -> list[str]:
    """Keys in which two records differ; nested ones with their place."""
    found = []
    for key in sorted(mine.keys() | other.keys()):
        a, b = mine.get(key), other.get(key)
        if a == b:
            continue
        if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
            a, b = dict(enumerate(a)), dict(enumerate(b))
        if isinstance(a, dict) and isinstance(b, dict):
            a, b = ({str(k): v for k, v in one.items()} for one in (a, b))
            found += [f"{key}.{one}" for one in differences(a, b)]
        else:
            found.append(f"{key}: {a!r} / {b!r}"[:300])
    return found


def fault(attempt: Attempt, record: dict | None) -> str | None:
    """What is not as the attempt demands; None if all is."""
    if record is None:
        return f"{attempt.path}: no record"
    told = f"{attempt.path}: {record['verdict']}: {record.get('reason')}"[:400]
    if re.fullmatch(attempt.verdict, record["verdict"]) is None:
        return f"{told} (wanted {attempt.verdict})"
    if re.search(attempt.reason, record.get("reason", ""), re.S) is None:
        return f"{told} (wanted a reason with {attempt.reason})"
    return None
