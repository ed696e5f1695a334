# SPDX-License-Identifier: Apache-2.0
"""Plans: what C is told about a problem and a world."""

import json
import resource
import subprocess
import sys

import pytest

from harness.runner.problem import ROOT, ProblemError, find, load
from harness.runner.resolve import Grid, grids, plan, resolve_size


def resolve(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "harness.runner.resolve", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_command_prints_a_plan():
    done = resolve("13", "-n", "2", "--sizes", "tiny")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert result["plan"] == 1
    assert result["problem"] == "013_gemm_allreduce"
    size = result["sizes"][0]
    assert (size["size"], size["class"], size["grid"]) == ("tiny", "tiny", "")
    assert size["axes"] == [{"name": "tp", "size": 2}]
    assert size["dims"][0] == {"name": "M", "values": [37, 37], "drawn": False}
    argument = size["arguments"][2]
    assert argument["shape"] == [[37, 29], [37, 29]]
    assert argument["check"] == {"default": "float", "integers": "exact", "pick": "exact"}
    assert set(argument["tolerance"]) == {"norm", "block", "max"}
    assert size["cost"]["flop"] == 2 * 37 * 29 * 23


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("26", "-n", "3", "--sizes", "pkb"), "P = 3 breaks the condition 'E % P == 0'"),
        (("26", "-n", "2", "--sizes", "huge"), "has no size 'huge'; it has tiny, tiny_empty"),
        (("26", "-n", "3"), "at P = 3 these work: --sizes tiny,tiny_empty"),
        (("26", "-n", "2", "--grid", "cp2"), "no grid 'cp2' at P = 2; its ranks form one row"),
        (("26", "-n", "0"), "a world has 1 to 64 ranks, not 0"),
        (("998", "-n", "2"), "no problem '998'"),
        (("/nowhere/001_x.json", "-n", "2"), "cannot read /nowhere/001_x.json"),
    ],
)
def test_command_refuses_in_one_sentence(arguments, message):
    done = resolve(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_command_is_fast_and_needs_no_torch():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert resolve("26", "-n", "8").returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = (
        "import sys, harness.runner.resolve\n"
        "raise SystemExit('torch' in sys.modules or 'jsonschema' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=300).returncode == 0
    # CPU time, which other work on the machine does not change: 0.06 s. Importing torch takes 1 s.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.7


def test_names_and_numbers_find_a_problem():
    path = ROOT / "problems" / "013_gemm_allreduce.json"
    for text in ("13", "013", "013_gemm_allreduce", str(path)):
        assert find(text) == path


def test_sizes_by_name_and_class():
    problem = load(find("26"))
    assert [s["size"] for s in plan(problem, 2, "tiny")["sizes"]] == ["tiny", "tiny_empty"]
    assert [s["size"] for s in plan(problem, 2, "large,tiny_empty")["sizes"]] == [
        "tiny_empty",
        "large",
    ]
    assert len(plan(problem, 2, "all")["sizes"]) == 4


def test_values_may_differ_by_rank():
    size = plan(load(find("26")), 4, "tiny")["sizes"][0]
    assert size["dims"][0]["values"] == [37, 43, 49, 37]
    assert size["arguments"][0]["shape"] == [[37, 3], [43, 3], [49, 3], [37, 3]]


def test_grid_is_row_major():
    grid = Grid(("cp", "tp"), (2, 3))
    assert str(grid) == "cp2xtp3"
    assert grid.coordinates(4) == {"cp": 1, "tp": 1}
    assert grid.ranks_along("tp", 4) == (3, 4, 5)
    assert grid.ranks_along("cp", 4) == (1, 4)


def test_all_shapes_of_a_world():
    assert [str(g) for g in grids(("cp", "tp"), 4)] == ["cp1xtp4", "cp2xtp2", "cp4xtp1"]
    assert [g.shape for g in grids(("tp",), 4)] == [(4,)]
    assert [g.shape for g in grids((), 4)] == [()]


def test_grid_shapes_that_break_a_condition_are_left_out(everything):
    assert [s["grid"] for s in plan(everything, 2, "tiny")["sizes"]] == ["cp1xtp2", "cp2xtp1"]
    assert [s["grid"] for s in plan(everything, 4, "tiny")["sizes"]] == ["cp2xtp2", "cp4xtp1"]
    with pytest.raises(ProblemError, match="breaks the condition 'tp <= 2'"):
        plan(everything, 4, "tiny", "cp1xtp4")


def test_drawn_dims_have_maxima_and_spread(everything):
    size = plan(everything, 2, "tiny")["sizes"][0]
    dims = {dim["name"]: dim for dim in size["dims"]}
    assert dims["n"] == {"name": "n", "values": [9, 8], "drawn": True}
    assert dims["total"] == {"name": "total", "values": [17, 17], "drawn": True}
    assert not dims["lists"]["drawn"]


def test_drawn_values_replace_maxima(everything):
    grid = Grid(("cp", "tp"), (2, 1))
    size = everything.size("tiny")
    resolved = resolve_size(everything, size, 2, grid, {"n": [3, 0]})
    assert resolved.dims["total"] == [3, 3]
    assert resolved.shape(everything.argument("kept"), 1) == [3, 5]
    with pytest.raises(ProblemError, match="'n' is 9 on rank 1, outside 0 to 8"):
        resolve_size(everything, size, 2, grid, {"n": [3, 9]})


def test_features_reach_the_plan(everything):
    size = plan(everything, 2, "tiny")["sizes"][0]
    arguments = {argument["name"]: argument for argument in size["arguments"]}
    assert arguments["start"]["present"] == [True, False]
    assert arguments["kept"]["count"] == "kept_count"
    assert arguments["kept"]["copies_out"]
    assert arguments["cuts"]["drawn"]
    assert arguments["alpha"]["shape"] == [[], []]
    assert arguments["code"]["check"] == {"default": "quantized"}
    assert size["cost"]["sent_bytes"] == 4 * 8 * 5
    assert size["cost"]["by_rank"]["sent_bytes"] == [0, 160]
