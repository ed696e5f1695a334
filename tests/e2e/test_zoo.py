# SPDX-License-Identifier: Apache-2.0
"""Every attempt of tests/zoo gets exactly the verdict that its first lines demand."""

import re
import shlex
from pathlib import Path

import pytest

from tests.e2e.command import ROOT, judge

ZOO = sorted((ROOT / "tests" / "zoo").glob("*.cu"))


def demands(source: Path) -> dict[str, str]:
    """The `// key: value` lines at the top of a zoo file."""
    found = {}
    for line in source.read_text().splitlines():
        match = re.match(r"// (verdict|reason|options): (.*)", line)
        if not match:
            break
        found[match[1]] = match[2]
    return found


@pytest.mark.parametrize("source", ZOO, ids=lambda source: source.stem)
def test_gets_its_verdict(source):
    demand = demands(source)
    options = shlex.split(demand.get("options", "--timeout 10"))
    answer = judge(source, "-n", 2, "--sizes", "tiny", "--no-timing", *options)
    record = answer.record
    told = f"{record['verdict']}: {record.get('reason')}\n{answer.err}"
    assert re.fullmatch(demand["verdict"], record["verdict"]), told
    assert re.search(demand["reason"], record.get("reason", ""), re.S), told
    assert answer.status == (0 if record["verdict"] == "CORRECT" else 1), told


def test_every_file_of_the_zoo_states_its_demand():
    assert len(ZOO) >= 30
    for source in ZOO:
        assert {"verdict", "reason"} <= set(demands(source)), source
