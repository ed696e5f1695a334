# SPDX-License-Identifier: Apache-2.0
"""Every problem file is right, and each kind of fault in one is named."""

import json
import shutil

import jsonschema
import pytest

from harness.runner.problem import ROOT
from harness.runner.validate import faults, main
from tests.python.conftest import DATA, PROBLEM_FILES

SCHEMA = json.loads((ROOT / "problems" / "schema.json").read_text())


@pytest.mark.parametrize("path", [*PROBLEM_FILES, *DATA.glob("*.json")], ids=lambda p: p.stem)
def test_problem_is_valid(path):
    assert list(faults(path, SCHEMA)) == []


def test_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_command(capsys):
    assert main([]) == 0
    assert "faults: 0" in capsys.readouterr().err
    assert main(["997"]) == 2


def edit_argument(index, **change):
    return lambda raw: raw["arguments"][index].update(change)


BROKEN = {
    "no statement": (lambda raw: raw.pop("statement"), "'statement' is a required property"),
    "unknown key": (lambda raw: raw.update(colour=1), "'colour' was unexpected"),
    "version": (lambda raw: raw.update(schema=2), "1 was expected"),
    "dtype": (edit_argument(0, dtype="bf8"), "'bf8' is not one of"),
    "role": (edit_argument(0, role="inn"), "'inn' is not one of"),
    "input with check": (edit_argument(0, check="exact"), r"\$.arguments\[0\]"),
    "output without check": (
        lambda raw: raw["arguments"][2].pop("check"),
        "'check' is a required property",
    ),
    "no nominal": (lambda raw: raw.update(families=["integers"]), "does not contain"),
    "class": (lambda raw: raw["sizes"][0].update({"class": "small"}), "'small' is not one of"),
    "bound": (
        lambda raw: raw["tolerance"]["cpu"]["C"].update(norm=0),
        "less than or equal to the minimum",
    ),
    "name": (lambda raw: raw.update(name="013_other"), "do not agree"),
    "number": (lambda raw: raw.update(id=14), "do not agree"),
    "names twice": (lambda raw: raw.update(dims={"A": "M"}), "the name 'A' is given twice"),
    "sizes differ": (
        lambda raw: raw["sizes"][1]["values"].pop("K"),
        "size 'tiny_row' does not give",
    ),
    "size twice": (lambda raw: raw["sizes"][1].update(name="tiny"), "size 'tiny' is given twice"),
    "C word": (lambda raw: raw.update(grid=["int"]), "'int' has a meaning in C"),
    "count": (edit_argument(2, count="A"), "count 'A' is not an i64 output"),
    "offsets": (edit_argument(0, offsets="B"), "offsets 'B' is not an i64 host argument"),
    "family of check": (
        edit_argument(2, check={"default": "float", "odd": "exact"}),
        "check for 'odd'",
    ),
    "no tolerance": (lambda raw: raw.update(tolerance={}), "'C' is compared as float but has no"),
    "strange tolerance": (
        lambda raw: raw["tolerance"]["cpu"].update(A={"norm": 1, "block": 1, "max": 1}),
        "tolerance for 'A', which is not compared",
    ),
    "insensitive": (
        lambda raw: raw.update(insensitive=[{"output": "A", "when": "1"}]),
        "'A' is no output",
    ),
    "when": (
        lambda raw: raw.update(insensitive=[{"output": "C", "when": "source < 1"}]),
        "unknown name 'source'",
    ),
    "shape": (edit_argument(0, shape=["M", "Q"]), "unknown name 'Q' in 'Q'"),
    "negative": (edit_argument(0, shape=["M", "K - 100"]), "has the shape"),
    "present by data": (
        lambda raw: (
            raw.update(dims={"root": {"drawn": True, "max": "P - 1"}, "next": "root + 1"}),
            raw["arguments"][0].update(present="rank == next"),
        ),
        "cannot depend on the drawn 'next'",
    ),
    "decider": (
        lambda raw: raw.update(dims={"n": {"drawn": True, "max": 9, "by": "C"}}),
        "dim 'n': by 'C' is no input",
    ),
    "impossible": (lambda raw: raw.update(require=["P > 99"]), "is possible on no world"),
    "cost": (lambda raw: raw["cost"].update(flop="M ** 2"), "operator Pow is not allowed"),
}


@pytest.fixture
def copy(tmp_path):
    """A valid problem with its reference in a folder of its own."""
    for folder, suffix in (("problems", "json"), ("references", "py")):
        (tmp_path / folder).mkdir()
        shutil.copy(ROOT / folder / f"013_gemm_allreduce.{suffix}", tmp_path / folder)
    return tmp_path / "problems" / "013_gemm_allreduce.json"


@pytest.mark.parametrize("name", BROKEN)
def test_fault_is_named(copy, name):
    change, message = BROKEN[name]
    raw = json.loads(copy.read_text())
    change(raw)
    copy.write_text(json.dumps(raw))
    found = list(faults(copy, SCHEMA))
    assert found
    with pytest.raises(AssertionError, match=message):
        raise AssertionError("\n".join(found))


def test_missing_reference_is_named(copy):
    reference = copy.parent.parent / "references" / "013_gemm_allreduce.py"
    reference.write_text("def make_inputs(ctx): pass\ndef oracle(ctx): pass\n")
    found = list(faults(copy, SCHEMA))
    assert [f.split("function ")[1] for f in found] == [
        "reference of 1 parameters",
        "oracle of 2 parameters",
    ]
    reference.unlink()
    assert list(faults(copy, SCHEMA)) == ["there is no 013_gemm_allreduce.py in references/"]


def test_no_json_is_named(tmp_path):
    path = tmp_path / "001_x.json"
    path.write_text("{")
    assert "cannot be read" in next(faults(path, SCHEMA))
