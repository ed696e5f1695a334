# SPDX-License-Identifier: Apache-2.0
"""Tolerances from both sides: what is measured, what is chosen from it, what is written."""

import json
import math

import pytest

from harness.runner.audit.choose import choose
from harness.runner.audit.measure import CHEATS, Sample, measure
from harness.runner.audit.rewrite import tolerance_entry, write_tolerance
from harness.runner.audit.scene import Place, places_of
from harness.runner.audit.table import page
from harness.runner.compare import REFERENCE_FACTOR, Errors
from harness.runner.problem import METRICS, ROOT, ProblemError, find, load

TILE, ELEMENT = "one_rank_missing_in_a_tile", "one_rank_missing_in_an_element"


def even(value: float) -> Errors:
    return Errors(value, value, value)


def sample(family: str = "nominal", rank: int = 0, **found: float) -> Sample:
    return Sample("y", "tiny", 2, rank, family, {k: even(v) for k, v in found.items()})


def chosen(*samples: Sample):
    return choose("y", "f32", list(samples))


def test_bound_is_twice_the_largest_honest_error():
    choice = chosen(
        sample(reference=0.01, float32=0.0123, local_only=0.1),
        sample(rank=1, reference=0.012, float32=0.001, local_only=0.09),
    )
    assert choice.bound == even(0.025)  # rounded up to two digits
    assert choice.refusals == []
    assert choice.largest == {"reference": even(0.012), "float32": even(0.0123)}
    assert choice.smallest == {"local_only": even(0.09)}
    assert choice.seen_by["local_only"] == pytest.approx(0.09 / 0.048)


@pytest.mark.parametrize(("cheat", "bound"), [(1.0, 0.08), (0.3, 0.04), (0.15, 0.02)])
def test_bound_lies_in_the_middle_where_there_is_room(cheat, bound):
    choice = chosen(sample(reference=0.01, float32=0.01, local_only=cheat))
    assert choice.bound == even(bound)


def test_an_exact_family_is_no_reason_for_a_wide_bound():
    choice = chosen(
        sample(reference=0.01, **{ELEMENT: 0.05}),
        sample("integers", reference=0.0, **{ELEMENT: math.inf}),
    )
    assert choice.bound == even(0.02)
    assert (choice.refusals, choice.notes) == ([], [])


def test_an_element_that_nobody_can_see_is_told():
    choice = chosen(sample(reference=0.01, local_only=1.0, **{ELEMENT: 0.001}))
    assert choice.bound == even(0.02)
    assert choice.refusals == []
    assert len(choice.notes) == 1
    assert CHEATS[ELEMENT] in choice.notes[0]


def test_a_program_that_only_moves_data_has_the_floor_of_its_dtype():
    choice = chosen(sample(reference=0.0, rounded_once=0.0, local_only=1.0))
    assert choice.bound == even(6.0e-8)


def test_float64_has_a_floor_of_its_own():
    """Its oracle is no more exact than the output."""
    found = sample(reference=1e-16, local_only=1.0)
    assert choose("y", "f64", [found]).bound == even(1e-12)


@pytest.mark.parametrize(("cheat", "margin"), [(0.2, 2), (0.17, 1.5), (0.14, 1.25), (0.122, 1.1)])
def test_bound_goes_down_to_keep_a_cheat_out(cheat, margin):
    choice = chosen(sample(reference=0.0, float32=0.1, **{TILE: cheat * 1.1}))
    assert choice.bound == even(pytest.approx(0.1 * margin, rel=0.05))
    assert choice.refusals == []


def test_what_does_not_separate_is_named():
    choice = chosen(
        sample(reference=0.01, **{TILE: 1.0}), sample(rank=1, reference=0.01, **{TILE: 0.02})
    )
    assert len(choice.refusals) == 1
    for word in ("a cheat would pass", CHEATS[TILE], "size tiny, P = 2, rank 1", "0.5 times"):
        assert word in choice.refusals[0]


def test_one_family_that_shows_a_cheat_is_enough():
    choice = chosen(
        sample(reference=0.01, **{ELEMENT: 0.02}),
        sample("integers", reference=0.0, **{ELEMENT: math.inf}),
    )
    assert choice.refusals == []


def test_honest_programs_must_pass_in_every_family():
    quiet = sample(reference=0.001, float32=0.001, local_only=0.01)
    assert chosen(quiet, sample("huge", reference=0.01, float32=0.03)).bound == even(0.002)
    assert (
        chosen(quiet, sample("huge", reference=0.001, float32=0.02))
        .refusals[0]
        .startswith("a cheat would pass")
    )
    choice = chosen(quiet, sample("integers", reference=0.0, float32=math.inf))
    assert "float32" in choice.refusals[0]
    assert "family 'integers'" in choice.refusals[0]


# ---- writing ----


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "001_allreduce.json"
    path.write_text((ROOT / "problems" / "001_allreduce.json").read_text())
    return path


def test_only_the_tolerance_of_the_device_changes(file):
    before = file.read_text()
    entry = tolerance_entry(
        chosen(sample(reference=0.01, local_only=math.inf)), {"date": "2026-11-30"}
    )
    assert list(entry["measured"]) == ["reference"]  # JSON has no infinity
    write_tolerance(file, "cuda", {"y": entry})
    after, old = json.loads(file.read_text()), json.loads(before)
    assert after["tolerance"]["cuda"] == {"y": entry}
    assert after["tolerance"]["cpu"] == old["tolerance"]["cpu"]
    assert {**after, "tolerance": 0} == {**old, "tolerance": 0}
    begin = before.index('  "tolerance": {')
    assert file.read_text().startswith(before[:begin])
    assert file.read_text().endswith(before[before.index('  "cost": {') :])


def test_writing_what_is_there_changes_nothing(file):
    before = file.read_text()
    write_tolerance(file, "cpu", json.loads(before)["tolerance"]["cpu"])
    assert file.read_text() == before


def test_a_key_inside_a_text_is_not_taken_for_the_tolerance(tmp_path):
    path = tmp_path / "p.json"
    path.write_text('{ "a": "\\"tolerance\\": {}", "b": {"tolerance": 1} ,\n"tolerance" : {} }')
    write_tolerance(path, "cpu", {"y": {"norm": 1e-06, "block": 2e-06, "max": 3e-06}})
    found = json.loads(path.read_text())
    assert found["b"] == {"tolerance": 1}
    assert found["tolerance"] == {"cpu": {"y": {"norm": 1e-06, "block": 2e-06, "max": 3e-06}}}
    path.write_text("{}")
    with pytest.raises(ProblemError, match="has no key 'tolerance'"):
        write_tolerance(path, "cpu", {})


# ---- measuring ----


@pytest.mark.parametrize("number", ["1", "13"])
def test_the_published_size_separates(running_worlds, number):
    """With the bounds that stand in the file."""
    place = Place(load(find(number)), "pkb", 2)
    for found in running_worlds(2).run(measure, place, "nominal", 1):
        (one,) = found
        bound = place.tolerance(one.output)
        allowed = bound.worst(one.errors["reference"].times(REFERENCE_FACTOR))
        for kind in ("reference", "rounded_once", "float32", "chain", "tree"):
            assert within(one.errors[kind], allowed), kind
        assert one.errors[TILE].block > allowed.block
        assert one.errors[TILE].max > allowed.max
        assert one.errors[ELEMENT].max > allowed.max
        assert one.errors["local_only"].norm > 50 * allowed.norm
        assert one.errors["eight_bits"].norm > one.errors["rounded_once"].norm


@pytest.mark.parametrize(
    ("number", "family", "output", "kinds"),
    [
        ("1", "integers", "y", ["eight_bits", "eight_bit_blocks", ELEMENT]),
        ("13", "pick", "C", ["eight_bits", "eight_bit_blocks", "eight_bit_channels", ELEMENT]),
        ("18", "integers", "y", [ELEMENT]),
        ("31", "pick", "y", ["eight_bit_channels", ELEMENT]),
        ("39", "scaled", "y", ["eight_bits", "eight_bit_blocks"]),
        ("39", "pick", "y", ["eight_bits", "eight_bit_blocks", "eight_bit_channels"]),
        ("55", "pick", "y", ["eight_bits", "eight_bit_blocks", "eight_bit_channels"]),
        ("73", "counts", "dlogits", [ELEMENT]),
    ],
)
def test_a_family_shows_what_nominal_inputs_hide(running_worlds, number, family, output, kinds):
    (place, *_) = places_of(load(find(number)), ["tiny"], [2], "cpu")
    found = [one for found in running_worlds(2).run(measure, place, family, 1) for one in found]
    seen = [one for one in found if one.output == output]
    assert len(seen) == 2
    for one in seen:
        allowed = place.tolerance(output).worst(one.errors["reference"].times(REFERENCE_FACTOR))
        assert within(one.errors["reference"], allowed)
        for kind in kinds:
            if kind in one.errors:  # a first rank may depend on nobody
                assert not within(one.errors[kind], allowed.times(3)), (one.rank, kind)
    assert all(kind in seen[1].errors for kind in kinds)


def within(errors: Errors, allowed: Errors) -> bool:
    return all(getattr(errors, metric) <= getattr(allowed, metric) for metric in METRICS)


def test_other_outputs_than_sums_are_measured_too(running_worlds, everything):
    """A complex one, one on the root only, an inout; cheats are what the oracle says."""
    place = Place(everything, "tiny", 2, "cp1xtp2")
    by_rank = running_worlds(2).run(measure, place, "nominal", 1)
    assert [{one.output for one in found} for found in by_rank] == [
        {"w", "wave", "on_root"},
        {"w", "wave"},
    ]
    for one in [one for found in by_rank for one in found]:
        assert one.errors["reference"].max < 1e-5
        assert one.errors[TILE].max > 1e-3, one


# ---- the table ----


def test_the_page_shows_what_is_stored():
    problems = [load(path) for path in sorted((ROOT / "problems").glob("[0-9]*.json"))]
    text = (ROOT / "docs" / "tolerances.md").read_text()
    stored = page(problems)
    assert stored in text, "put what `pkbench audit --table` prints into docs/tolerances.md"
    on_cpu = stored.split("## cuda")[0]
    assert "Not measured yet" not in on_cpu
    assert on_cpu.count("\n| ") > len(problems)


def test_the_page_says_once_what_bounds_were_set_from():
    names = ("001_allreduce", "007_reducescatter")
    problem, other = (load(ROOT / "problems" / f"{name}.json") for name in names)
    entries = [one.tolerance["cpu"][one.outputs[0].name] for one in (problem, other)]
    entries[1]["set"] = {**entries[0]["set"], "date": "2031-01-02"}
    both = page([problem, problem, other]).split("## cuda")[0]
    assert [line[-3] for line in both.splitlines() if " y (bf16)" in line] == ["1", "1", "2"]
    assert both.count(entries[0]["set"]["date"]) == both.count("2031-01-02") == 1
    del problem.tolerance["cpu"]
    assert "Not measured yet: 1 y (bf16)." in page([problem, other])
