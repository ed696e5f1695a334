# SPDX-License-Identifier: Apache-2.0
"""The audit finds nothing in the suite, and finds each fault that is planted in a small problem."""

import json

import pytest

from harness.runner.audit import report
from harness.runner.audit.examine import examine
from harness.runner.audit.scene import places_of
from harness.runner.problem import load
from tests.python.conftest import PROBLEM_FILES

SEEDS = 3


def faults_of(problem, sizes, worlds, running) -> list:
    places = places_of(problem, sizes, worlds, "cpu")
    assert places, "possible on no world"
    return [fault for place in places for fault in examine(place, running, SEEDS)]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", PROBLEM_FILES, ids=lambda path: path.stem)
def test_suite_is_clean(running_worlds, path):
    problem = load(path)
    sizes = [size.name for size in problem.sizes if size.size_class == "tiny"]
    faults = faults_of(problem, sizes, [2, 4, 8], running_worlds)
    assert [fault.sentence for fault in faults if not fault.is_note] == []


@pytest.mark.parametrize("world", [2, 4])
def test_every_feature_of_the_format(running_worlds, everything, world):
    faults = faults_of(everything, ["tiny"], [world], running_worlds)
    assert [fault.sentence for fault in faults if not fault.is_note] == []
    assert {fault.subject for fault in faults} == {"step"}  # the constant scalar


# ---- planted faults ----

PROBLEM = {
    "schema": 1,
    "id": 950,
    "name": "950_scaled_sum",
    "title": "Sum over ranks, each with a factor of its own",
    "category": "primitive",
    "origin": "tests of the audit",
    "deviates": [],
    "collectives": ["all_reduce"],
    "statement": "Not a real problem: y sums f[0] * x over all ranks, and sign counts signs.",
    "require": [],
    "grid": [],
    "deterministic": False,
    "dims": {},
    "sizes": [{"name": "tiny", "class": "tiny", "values": {"N": 40}}],
    "arguments": [
        {"name": "x", "role": "in", "dtype": "f32", "shape": ["N"]},
        {"name": "f", "role": "in", "dtype": "f32", "shape": [3]},
        {"name": "y", "role": "out", "dtype": "f32", "shape": ["N"], "check": "float"},
        {"name": "sign", "role": "out", "dtype": "i32", "shape": ["N"], "check": "exact"},
    ],
    "insensitive": [],
    "families": ["nominal"],
    "tolerance": {"cpu": {"y": {"norm": 1e-5, "block": 1e-5, "max": 1e-4}}},
    "cost": {"flop": 1, "hbm_bytes": 1, "sent_bytes": 1},
}
REFERENCE = """
import torch
import torch.distributed as dist


def make_inputs(ctx):
    x = torch.randn(ctx.dims.N, generator=ctx.rng)
    x = torch.where(x.abs() < 0.01, x + 0.1, x)
    f = 1 + torch.rand(3, generator=ctx.rng)
    return {"x": x, "f": f}


def reference(ctx, x, f):
    y = torch.mul(x, f[0], out=ctx.out("y"))
    dist.all_reduce(y)
    sign = ctx.out("sign").copy_(torch.sign(x * f[1] + f[2]))
    dist.all_reduce(sign)
    return {"y": y, "sign": sign}


def oracle(ctx, inputs_of_all_ranks):
    every = [(inputs["x"].double(), inputs["f"].double()) for inputs in inputs_of_all_ranks]
    y = sum(x * f[0] for x, f in every)
    sign = sum(torch.sign(x * f[1] + f[2]) for x, f in every)
    return {"y": y, "sign": sign.int()}
"""


def plant(folder, code=(), **changes):
    """The small problem with pairs (text, other text) replaced in its reference file."""
    (folder / "problems").mkdir()
    (folder / "references").mkdir()
    source = REFERENCE
    for text, other in code:
        assert text in source
        source = source.replace(text, other)
    path = folder / "problems" / "950_scaled_sum.json"
    path.write_text(json.dumps({**PROBLEM, **changes}))
    (folder / "references" / "950_scaled_sum.py").write_text(source)
    return load(path)


def with_argument(name: str, **changes) -> list[dict]:
    return [{**a, **changes} if a["name"] == name else a for a in PROBLEM["arguments"]]


WIDE = {"cpu": {"y": {"norm": 2.0, "block": 4.0, "max": 30.0}}}
NO_SIGN = [
    ("sign = sum(torch.sign(x * f[1] + f[2]) for x, f in every)", "sign = torch.zeros(ctx.dims.N)"),
    ("torch.sign(x * f[1] + f[2]))\n    dist.all_reduce(sign)", "torch.zeros_like(x))"),
]
LOCAL = [
    ("y = sum(x * f[0] for x, f in every)", "y = every[ctx.rank][0] * every[ctx.rank][1][0]"),
    ("dist.all_reduce(y)", "pass"),
]
OUTSIDE = [("import torch\n", "import torch\n_lucky = torch.Generator().seed()\n")]
GLOBAL = '"x": x + torch.tensor(_lucky % 1000)'

PLANTS = {
    "nothing": ({}, []),
    "constant input": (
        {"code": [('"f": f}', '"f": torch.full((3,), 1.5)}')]},
        ["'f' of rank 0 does not vary from trial to trial", "ctx.rng"],
    ),
    "equal elements": (
        {"code": [("x = torch.randn(ctx.dims.N, generator=ctx.rng)",
                   "x = torch.randn(1, generator=ctx.rng).expand(ctx.dims.N).clone()")]},
        ["all elements of 'x' of rank 0 are", "draw every element"],
    ),
    "replicated inputs": (
        {"code": [("generator=ctx.rng", "generator=ctx.shared_rng()")]},
        ["'x' is the same on ranks 0 and 1",
         "a program that does not do the work passes: as if all ranks held this rank's inputs"],
    ),
    "not shared though it says so": (
        {"arguments": with_argument("f", shared="all")},
        ["'f' differs between ranks 0 and 1", "ctx.shared_rng() only"],
    ),
    "other randomness": (
        {"code": [*OUTSIDE, ('"x": x', GLOBAL)]},
        ["two processes draw other inputs for rank 0 from the same seed"],
    ),
    "NaN in an input": (
        {"code": [('return {"x": x', 'x[3] = float("nan")\n    return {"x": x')]},
        ["'x' of rank 0 has NaN or infinite elements in family 'nominal'",
         "the oracle expects NaN or infinite elements in 'y'"],
    ),
    "output independent of other ranks": (
        {"code": LOCAL},
        ["output 'y' of rank 0 does not depend on 'x' of rank 1", "declare it under insensitive"],
    ),
    "argument without influence": (
        {"code": [("f[0]", "1"), ("* f[1] + f[2]", "")]},
        ["output 'y' of rank 0 does not depend on 'f' of rank 0",
         "output 'sign' of rank 0 does not depend on 'f' of rank 0"],
    ),
    "untrue insensitive": (
        {"insensitive": [{"output": "y", "argument": "f", "when": "src > rank"}]},
        ["insensitive says that output 'y' of rank 0 does not depend on 'f' of rank 1, but it"],
    ),
    "tolerance too wide": (
        {"code": NO_SIGN, "tolerance": WIDE},
        ["a program that does not do the work passes: zeros", "by more than 10 x tolerance"],
    ),
    "reference that disagrees": (
        {"code": [("dist.all_reduce(y)", "dist.all_reduce(y)\n    y[7] += 0.01")]},
        ["the reference's 'y' of rank 0 is not what the oracle says in family 'nominal': max"],
    ),
    "reference that forgets an element": (
        {"code": [("dist.all_reduce(sign)", "dist.all_reduce(sign[1:])"),
                  ('sign = ctx.out("sign").copy_(', 'sign = ctx.out("sign")\n    sign[1:].copy_('),
                  ("torch.sign(x * f[1] + f[2])", "torch.sign(x * f[1] + f[2])[1:]"),
                  ("sum(torch.sign(x * f[1] + f[2])[1:]", "sum(torch.sign(x * f[1] + f[2])")]},
        ["the reference's 'sign' of rank 0 is not what the oracle says", "the first at 0"],
    ),
    "reference that changes an input": (
        {"code": [("dist.all_reduce(y)", "dist.all_reduce(y)\n    x += 1")]},
        ["the reference changed its input 'x'"],
    ),
    "decision without a margin": (
        {"code": [("x = torch.where(x.abs() < 0.01, x + 0.1, x)\n    f = 1 + torch.rand(3, "
                   "generator=ctx.rng)",
                   "f = 1 + torch.rand(3, generator=ctx.rng)\n    x[:20] = -f[2] / f[1]")]},
        ["a judge would not take 'sign' of rank 0 computed in float32", "away from their edges"],
    ),
    "not deterministic": (
        {"deterministic": True, "code": [("dist.all_reduce(y)",
                   "dist.all_reduce(y)\n    y *= 1 + 1e-6 * torch.rand(40)")]},
        ["the reference's 'y' of rank 0 differs between two calls"],
    ),
    "crash": (
        {"code": [("y = sum(x * f[0] for x, f in every)", "y = torch.zeros(3) + torch.zeros(4)")]},
        ["RuntimeError", "950_scaled_sum.py"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTS)
def test_planted_fault_is_found(running_worlds, tmp_path, name):
    changes, sentences = PLANTS[name]
    problem = plant(tmp_path, **changes)
    faults = faults_of(problem, ["tiny"], [2], running_worlds)
    found = [fault.sentence for fault in faults]
    for sentence in sentences:
        assert any(sentence in one for one in found), found
    assert bool(sentences) == bool(found), found
    assert all(one.startswith("950_scaled_sum, size tiny, P = 2: ") for one in found)


def test_tables_line_up_for_long_names():
    """The longest name of a published problem has 39 characters."""
    names = ["001_allreduce", "0" * 39]
    audited = [report.Audited(name, 4, 1.0, []) for name in names]
    head, *lines, last = report.table(audited).splitlines()
    assert last == "2 problems, 0 faults"
    columns = head.index("places") + len("places")
    assert [line[:columns].split()[-1] for line in lines] == ["4", "4"]
    assert {len(line) for line in lines} == {len(head)}
    width = report.name_columns(names)
    assert len({one.line(width).index("places") for one in audited}) == 1
