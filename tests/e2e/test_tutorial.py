# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md is true: its code is that of its files, its commands say what it shows."""

import re
import subprocess

import pytest

from tests.e2e.command import ROOT
from tests.e2e.processes import HUNG_S

PAGE = (ROOT / "docs" / "tutorial.md").read_text()
FILES = ROOT / "docs" / "tutorial"
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.M | re.S)
MASKS = (  # what differs from one evaluation to the next
    (r"\d+(\.\d+)? (ns|us|ms|s)\b", "TIME"),
    (r" \(cached\)", ""),
    (r"\brank \d+:", "rank R:"),
    (r"\[\d+, \d+\] is \S+, expected \S+", "[I] is V, expected V"),
    (r"[\d.]+ % of y is wrong(, max error \S+ against a limit of \S+(?=\)))?", "N % of y is wrong"),
    (r" +", " "),
)


def blocks(kind: str) -> list[tuple[str, str]]:
    """(word after the kind, text) of each fenced block of that kind."""
    return [(word, text) for found, word, text in BLOCK.findall(PAGE) if found == kind]


def commands() -> list[tuple[str, str]]:
    """(command, what the page shows of its output), in the order of the page."""
    text = "".join(text for _, text in blocks("console"))
    shown = [part.split("\n", 1) for part in re.split(r"^\$ ", text, flags=re.M)[1:]]
    return [(command, output) for command, output in shown]


def masked(text: str) -> str:
    for pattern, instead in MASKS:
        text = re.sub(pattern, instead, text)
    return text


def is_shown(shown: str, output: str) -> bool:
    """Whether `output` is what the page shows; its lines "..." stand for any lines."""
    lines = masked(shown).splitlines()
    pattern = "".join(r"(.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in lines)
    return re.fullmatch(pattern, masked(output)) is not None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Looks like the checkout to the page's commands, and takes what they write."""
    path = tmp_path_factory.mktemp("tutorial")
    for name in ("build", "docs"):
        (path / name).symlink_to(ROOT / name)
    return path


@pytest.mark.parametrize(("command", "shown"), commands(), ids=[c for c, _ in commands()])
def test_command_says_what_the_page_shows(folder, command, shown):
    is_eval = command.startswith("build/pkbench eval ")
    done = subprocess.run(
        ["bash", "-c", command + (" --device cpu" if is_eval else "")],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=HUNG_S,
    )
    assert is_shown(shown, done.stdout), done.stdout
    assert done.returncode == (1 if "WRONG_OUTPUT" in shown else 0)


def test_code_is_that_of_the_files():
    excerpts = blocks("cuda")
    assert {name for name, _ in excerpts} == {path.name for path in FILES.iterdir()}
    for name, text in excerpts:
        assert text in (FILES / name).read_text(), name


def test_every_block_is_tested():
    assert len(commands()) == 5
    assert {kind for kind, _, _ in BLOCK.findall(PAGE)} == {"console", "cuda", "sh"}
    assert PAGE.count("\n```") == 2 * len(BLOCK.findall(PAGE))


@pytest.mark.parametrize(
    ("shown", "output", "is_right"),
    [
        ("...\nb\n", "a\na\nb\n", True),
        ("...\nb\n", "a\nb\nc\n", False),
        ("took: check 0.1 s\n", "took: check 12.25 s\n", True),
        ("took: check 0.1 s\n", "took: time 0.1 s\n", False),
        ("rank 0: y[1, 2] is 3.5, expected 7\n", "rank 1: y[5, 0] is nan, expected -7e-31\n", True),
        ("rank 0: y[1, 2] is 3.5, expected 7\n", "rank 0: y[1, 2] was never written\n", False),
        ("CORRECT  13, 2 ranks\n", "CORRECT  13, 4 ranks\n", False),
    ],
)
def test_only_what_differs_is_masked(shown, output, is_right):
    assert is_shown(shown, output) == is_right
