# SPDX-License-Identifier: Apache-2.0
"""The verbs as a newcomer uses them: list, explain, start an attempt, judge it, keep the record."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.e2e.command import PKBENCH, ROOT, pkbench
from tests.e2e.folder import FolderRun
from tests.e2e.processes import HUNG_S

PROBLEMS = sorted(path.stem for path in (ROOT / "problems").glob("[0-9]*.json"))


def test_problems_lists_every_file_at_once():
    answer = pkbench("problems", env={"PKBENCH_PYTHON": "/nowhere"})  # nothing slow is started
    assert [
        f"{int(line.split()[0]):03d}_{line.split()[1]}" for line in answer.out.splitlines()
    ] == PROBLEMS
    lines = [json.loads(line) for line in pkbench("problems", "--json").out.splitlines()]
    assert [line["name"] for line in lines] == PROBLEMS


def test_problems_lists_those_of_a_list():
    numbers = [int(line.split()[0]) for line in pkbench("problems", "tensor,1-2").out.splitlines()]
    files = [json.loads((ROOT / "problems" / f"{name}.json").read_text()) for name in PROBLEMS]
    wanted = [f["id"] for f in files if f["id"] <= 2 or f["category"] == "tensor"]
    assert numbers == wanted
    assert len(pkbench("problems", "013", "--json").out.splitlines()) == 1


@pytest.mark.parametrize("name", PROBLEMS)
def test_show_has_every_argument_and_size(name):
    problem = json.loads((ROOT / "problems" / f"{name}.json").read_text())
    text = pkbench("show", name).out
    if len(problem["grid"]) == 1:
        assert f"ranks form a row of P: axis {problem['grid'][0]}\n" in text
    elif problem["grid"]:
        assert f"axes {', '.join(problem['grid'])}, whose sizes" in text
    for entry in [*problem["arguments"], *problem["sizes"]]:
        assert f"\n  {entry['name']} " in text
    assert json.loads(pkbench("show", name, "--json").out) == problem


@pytest.mark.parametrize("name", PROBLEMS)
def test_prompt_has_what_a_model_needs(name):
    text = pkbench("prompt", name).out
    assert (ROOT / "references" / f"{name}.py").read_text() in text
    for header in ("pkbench.h", "pkbench_device.cuh"):
        assert (ROOT / "harness" / "include" / header).read_text() in text
    own = ROOT / "examples" / f"{name}.cu"
    assert not own.exists() or own.read_text() not in text
    assert text.count("```cuda\n") == 1  # the example; the last section names the fence in a line
    assert "exactly one block" in text


def test_prompt_and_manual_say_the_same_of_compiling_and_multicast():
    manual = " ".join((ROOT / "docs" / "abi.md").read_text().split())
    prompt = " ".join(pkbench("prompt", "13").out.split())
    for begin, end in (("It is built once", "`compute_90a`."), ("`pkb_multicast` returns", ".")):
        start = manual.index(begin)
        assert manual[start : manual.index(end, start) + len(end)] in prompt


def test_comments_that_a_model_reads_are_whole():
    """A formatter that wraps a too long line of a table joins it with the next row."""
    text = pkbench("prompt", "13").out
    for name in ("pkb_setup(", "pkb_run(", "pkb_teardown("):
        lines = [line for line in text.splitlines() if f"{name}pkb_world *," in line]
        assert [line.split()[1] for line in lines] == ["extern"], lines
    for row in (" * Layout  ", " * Barriers  ", " * Cost  "):
        assert f"\n{row}" in text, row


SKELETONS = PROBLEMS[:3]


@pytest.fixture(scope="module")
def skeletons(tmp_path_factory):
    """A run of some problems' skeletons."""
    folder = tmp_path_factory.mktemp("skeletons")
    for name in SKELETONS:
        assert pkbench("new", name, "-o", folder / f"{name}.cu").status == 0
    with FolderRun(folder, "--no-save") as run:
        yield run


@pytest.mark.parametrize("name", SKELETONS)
def test_skeleton_compiles_and_is_wrong(skeletons, name):
    record = skeletons.record(Path(f"{name}.cu"))
    assert record["verdict"] == "WRONG_OUTPUT", record


def test_record_is_appended_and_names_what_was_asked(tmp_path):
    results = tmp_path / "r.jsonl"
    path = tmp_path / "001_broken.cu"
    path.write_text("int")
    for _ in range(2):
        pkbench("eval", path, "--device", "cpu", "-o", results, "--seed", "7", "-n", "3")
    records = [json.loads(line) for line in results.read_text().splitlines()]
    assert len(records) == 2
    first, second = records
    assert first["judgement"] == second["judgement"]
    assert first["id"] == "001_broken/001_allreduce/0/cpu/3"
    assert (first["run"], first["source"]) == ("001_broken", "001_broken.cu")
    assert first["world"] == 3
    assert first["flags"]["seed"] == 7
    assert first["sizes_asked"][0] == "tiny"
    assert first["versions"]["torch"]


def test_two_at_once_do_not_disturb_each_other():
    source = ROOT / "examples" / "001_allreduce.cu"
    command = [PKBENCH, "eval", source, "--device", "cpu", "--no-timing", "--no-cache", "--json"]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in "ab"]
    for run in runs:
        out, err = run.communicate(timeout=HUNG_S)
        assert json.loads(out)["verdict"] == "CORRECT", err


def test_a_seed_draws_the_same_inputs():
    source = ROOT / "examples" / "001_allreduce.cu"
    options = ["--device", "cpu", "--no-timing", "--json", "--sizes", "tiny_empty"]
    seeded = [pkbench("eval", source, *options, "--seed", "5").record["secret"] for _ in "ab"]
    assert seeded[0] == seeded[1]
    assert pkbench("eval", source, *options).record["secret"] != seeded[0]


def test_a_second_compile_comes_from_the_cache(tmp_path):
    source = ROOT / "examples" / "001_allreduce.cu"
    environment = {"PKBENCH_CACHE": str(tmp_path / "cache")}
    options = ["--device", "cpu", "--no-timing", "--sizes", "tiny_empty"]
    assert "(cached)" not in pkbench("eval", source, *options, env=environment).err
    assert "(cached)" in pkbench("eval", source, *options, env=environment).err
    assert len(list((tmp_path / "cache").glob("[!.]*"))) == 1


PRINTS = """#include <cstdio>
#include <pkbench.h>
#include "problem.h"
__global__ void tell(int rank) { printf("device of %d\\n", rank); }
extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    for (int i = 0; i < 20; i++)
        printf("line %d of the host \\033[2J\\xff\\n", i);
    tell<<<1, 1, 0, stream>>>(pkb_rank(world));
    return cudaStreamSynchronize(stream);
}
"""


def test_what_a_wrong_attempt_printed_is_shown_and_kept(tmp_path):
    path, kept = tmp_path / "001_prints.cu", tmp_path / "kept"
    path.write_text(PRINTS)
    options = ["--device", "cpu", "--no-timing", "--sizes", "tiny"]
    answer = pkbench("eval", path, *options, "--keep", kept)
    assert answer.status == 1
    _, _, shown = answer.err.partition("the attempt printed:")
    assert "device of 0" in shown, answer.err
    assert "line 19 of the host ?[2J\ufffd" in shown
    assert shown.count("of the host") < 10
    assert "\033" not in answer.err
    for rank in range(2):
        text = (kept / f"rank{rank}.txt").read_bytes().decode(errors="replace")
        assert f"device of {rank}" in text
        assert "line 0 of the host \033[2J" in text


def test_a_right_attempt_and_the_record_show_nothing_printed(tmp_path):
    options = ["--device", "cpu", "--no-timing", "--sizes", "tiny"]
    assert "printed" not in pkbench("eval", ROOT / "tests/zoo/001_chatty.cu", *options).err
    path = tmp_path / "001_prints.cu"
    path.write_text(PRINTS)
    assert "of the host" not in pkbench("eval", path, *options, "--json").out


def test_times_of_the_cpu_device_are_no_score():
    source = ROOT / "examples" / "001_allreduce.cu"
    answer = pkbench("eval", source, "--device", "cpu", "--sizes", "tiny")
    assert "CPU: times are no score" in answer.err, answer.err
    assert "speed-up" not in answer.err
    assert not [line for line in answer.err.splitlines() if line.endswith("x")]
