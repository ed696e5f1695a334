# SPDX-License-Identifier: Apache-2.0
"""Every attempt of tests/zoo gets exactly the verdict that its first lines demand, whatever ran on
its ranks before: one run judges all that name the same options.
"""

import functools
import re
import shlex
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.command import ROOT
from tests.e2e.folder import FolderRun, wanted

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


def options(source: Path) -> str:
    return demands(source).get("options", "--timeout 10")


@pytest.fixture(scope="module")
def runs(request, tmp_path_factory):
    """runs(options): the run of all files that are asked for and name these options."""
    with ExitStack() as stack:

        @functools.cache
        def run(words: str) -> FolderRun:
            stack.close()  # the run before
            folder = tmp_path_factory.mktemp("zoo")
            for one in wanted(request, "source"):
                if options(one["source"]) == words:
                    place = folder / one["source"].stem[:3]
                    place.mkdir(exist_ok=True)
                    shutil.copy(one["source"], place)
            return stack.enter_context(FolderRun(folder, "-n", 2, "--no-save", *shlex.split(words)))

        yield run


@pytest.mark.timeout(300)
@pytest.mark.parametrize("source", sorted(ZOO, key=options), ids=lambda source: source.stem)
def test_gets_its_verdict(runs, source):
    run = runs(options(source))
    demand = demands(source)
    record = run.record(source)
    told = f"{record['verdict']}: {record.get('reason')}\n{run.said()}"
    assert re.fullmatch(demand["verdict"], record["verdict"]), told
    assert re.search(demand["reason"], record.get("reason", ""), re.S), told


def test_every_file_of_the_zoo_states_its_demand():
    assert len(ZOO) >= 30
    for source in ZOO:
        assert {"verdict", "reason"} <= set(demands(source)), source
