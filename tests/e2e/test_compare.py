# SPDX-License-Identifier: Apache-2.0
"""`pkbench compare`: two runs, paired problem by problem."""

import pytest

from tests.e2e.command import pkbench
from tests.e2e.records import problem_name, record, size_of, write

INCOMPLETE = 6


def run_of(path, name: str, solved, speedup=2.0, problems=range(1, 13), **options):
    """A run with an attempt at each problem, right at those in `solved`."""
    records = [
        record(problem_name(number), 0, "CORRECT", speedup=speedup, run=name, **options)
        if number in solved
        else record(problem_name(number), 0, "CRASH", run=name, **options)
        for number in problems
    ]
    return write(path / f"{name}.jsonl", records)


def compare(*arguments, status: int = 0) -> dict:
    answer = pkbench("compare", "--json", *arguments)
    assert answer.status == status, answer.err
    return answer.record


def test_a_run_does_not_differ_from_itself(tmp_path):
    path = run_of(tmp_path, "a", {1, 2, 3})
    answer = compare(path, path)
    assert answer["pass"]["1"] == {
        "a": 0.25,
        "b": 0.25,
        "difference": {"value": 0, "low": 0, "high": 0},
        "p": 1,
        "problems": 12,
    }
    assert answer["speedup"]["ratio"] == {"value": 1, "low": 1, "high": 1}
    assert answer["solved_only_by_a"] == answer["solved_only_by_b"] == []


def test_a_difference_has_its_interval_and_its_p(tmp_path):
    """B solves 8 more of 12, A none that B does not: all signs equal in 2 of 2^8 tosses."""
    a = run_of(tmp_path, "a", {1}, speedup=1.5)
    b = run_of(tmp_path, "b", set(range(1, 10)), speedup=3.0)
    answer = compare(a, b)
    row = answer["pass"]["1"]
    assert row["difference"]["value"] == pytest.approx(8 / 12)
    assert 0.3 < row["difference"]["low"] < 0.5
    assert 0.8 < row["difference"]["high"] < 1
    assert row["p"] == pytest.approx(2 / 2**8)
    assert answer["fast"]["2"]["1"]["difference"]["value"] == pytest.approx(9 / 12)
    assert answer["speedup"]["ratio"]["value"] == pytest.approx(2)
    assert answer["speedup"]["problems"] == 1
    assert answer["best"]["1"]["ratio"]["value"] == pytest.approx((3**9 / 1.5) ** (1 / 12))
    assert answer["solved_only_by_a"] == []
    assert answer["solved_only_by_b"] == [problem_name(number) for number in range(2, 10)]
    back = compare(b, a)["pass"]["1"]
    assert back["difference"]["value"] == -row["difference"]["value"]
    assert back["p"] == row["p"]
    text = pkbench("compare", a, b).out
    assert "+66.7 [" in text
    assert "solved only by B (8): 002_made_up" in text


def test_pairs_tell_more_than_two_scores(tmp_path):
    """The intervals of the scores overlap; the pairs leave no doubt."""
    numbers = range(1, 88)
    a = run_of(tmp_path, "a", set(range(1, 41)), problems=numbers)
    b = run_of(tmp_path, "b", set(range(1, 51)), problems=numbers)
    lines = pkbench("score", "--json", a, b).out.splitlines()
    assert len(lines) == 2
    row = compare(a, b)["pass"]["1"]
    assert row["p"] < 0.01
    assert row["difference"]["low"] > 0


def test_problems_of_one_run_only_leave_it_incomplete(tmp_path):
    a = run_of(tmp_path, "a", {1, 2}, problems=range(1, 5))
    b = run_of(tmp_path, "b", {1, 2}, problems=range(3, 9))
    answer = compare(a, b, status=INCOMPLETE)
    assert (answer["paired"], answer["only_a"], answer["only_b"]) == (2, 2, 4)
    assert answer["pass"]["1"]["problems"] == 2
    text = pkbench("compare", a, b).out
    assert "INCOMPLETE" in text
    assert "paired over 2 problems; 2 only in A, 4 only in B" in text
    c = run_of(tmp_path, "c", {1}, problems=range(20, 22))
    answer = pkbench("compare", a, c)
    assert answer.status == 2
    assert "in common" in answer.err


def test_lines_that_are_no_records_leave_it_incomplete(tmp_path):
    a, b = run_of(tmp_path, "a", {1}), run_of(tmp_path, "b", {1})
    with b.open("a") as file:
        file.write('{"cut')
    answer = compare(a, b, status=INCOMPLETE)
    assert (answer["a"]["broken_lines"], answer["b"]["broken_lines"]) == (0, 1)
    answer = pkbench("compare", a, b)
    assert "0 and 1 lines that are no record" in answer.out
    assert "b.jsonl:13" in answer.err


@pytest.mark.parametrize("key", ["feedback", "policy"])
def test_feedback_is_what_may_differ(tmp_path, key):
    flags = {"sizes": "all", "timing": True, "timeout_s": 20}
    a = run_of(tmp_path, "a", {1}, flags={**flags, key: "none"})
    b = run_of(tmp_path, "b", {1, 2}, flags={**flags, key: "full"})
    assert compare(a, b)["complete"]


@pytest.mark.parametrize(
    ("what", "changes"),
    [
        ("worlds", {"world": 4}),
        ("machine classes", {"machine": {"class": "another"}}),
        ("protocol versions", {"versions": {"protocol": 1}}),
        ("devices", {"device": "cpu"}),
        ("grids", {"flags": {"sizes": "all", "timing": True, "timeout_s": 20, "grid": "2x1"}}),
    ],
)
def test_other_conditions_may_not(tmp_path, what, changes):
    a = run_of(tmp_path, "a", {1})
    b = run_of(tmp_path, "b", {1}, **changes)
    answer = pkbench("compare", a, b)
    assert answer.status == 2
    assert what in answer.err
    assert what in compare(a, b, "--mix")["different"]
    assert "MIXED" in pkbench("compare", a, b, "--mix").out


def test_sizes_of_a_problem_may_not(tmp_path):
    a = write(tmp_path / "a.jsonl", [record("001_allreduce", speedup=2.0)])
    sizes = [size_of("pkb", "CORRECT", 2.0)]
    b = write(tmp_path / "b.jsonl", [record("001_allreduce", sizes=sizes, sizes_asked=["pkb"])])
    assert "large pkb tiny" in pkbench("compare", a, b).err
    assert compare(a, b, "--mix")["different"] == ["sizes of a problem"]


def test_definitions_of_a_problem_may_not(tmp_path):
    a = run_of(tmp_path, "a", {1}, definition="aa")
    b = run_of(tmp_path, "b", {1}, definition="bb")
    assert "001_made_up was not the same problem" in pkbench("compare", a, b).err
    assert compare(a, b, "--mix")["different"] == ["definitions of a problem"]
    assert "MIXED: definitions" in pkbench("compare", a, b, "--mix").out


def test_the_cpu_compares_what_is_right(tmp_path):
    a = run_of(tmp_path, "a", {1}, device="cpu")
    b = run_of(tmp_path, "b", {1, 2}, device="cpu")
    answer = compare(a, b)
    assert answer["fast"] == {"1": {}, "1.25": {}, "1.5": {}, "2": {}, "4": {}}
    assert "speedup" not in answer
    assert "screened on cpu" in pkbench("compare", a, b).out


def test_two_runs_are_needed(tmp_path):
    path = run_of(tmp_path, "a", {1})
    for paths in ([], [path], [path] * 3):
        answer = pkbench("compare", *paths)
        assert answer.status == 2
        assert "two runs" in answer.err
