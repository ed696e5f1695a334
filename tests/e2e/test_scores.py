# SPDX-License-Identifier: Apache-2.0
"""`pkbench score`: the numbers that docs/scores.md defines, from made-up records."""

import csv
import io
import json
import math
import os

import pytest

from tests.e2e.command import ROOT, pkbench
from tests.e2e.records import problem_name, record, size_of, write
from tests.e2e.scores import INCOMPLETE, attempts, refusal, score

# ---- values ----


def test_published_numbers_come_back(tmp_path):
    """28 of 87 right, 22 of them faster: 32.2 % and 25.3 %."""
    records = []
    for number in range(1, 88):
        if number <= 28:
            speedup = 1.5 if number <= 22 else 0.5
            records.append(record(problem_name(number), speedup=speedup))
        else:
            records.append(record(problem_name(number), verdict="WRONG_OUTPUT"))
    path = write(tmp_path / "records.jsonl", records)
    all_of_it = score(path)["all"]
    one, fast = all_of_it["pass"]["1"], all_of_it["fast"]["1"]["1"]
    assert one["value"] == pytest.approx(28 / 87)
    assert fast["value"] == pytest.approx(22 / 87)
    # Binomial: half-widths of 9.8 and 9.1 points.
    for value, half_width in ((one, 0.098), (fast, 0.091)):
        assert value["low"] == pytest.approx(value["value"] - half_width, abs=0.015)
        assert value["high"] == pytest.approx(value["value"] + half_width, abs=0.015)
    assert all_of_it["fast"]["1.5"]["1"]["value"] == 0  # strictly faster
    assert all_of_it["speedup_of"] == 28
    wanted = math.exp((22 * math.log(1.5) + 6 * math.log(0.5)) / 28)
    assert all_of_it["speedup"]["value"] == pytest.approx(wanted)
    text = pkbench("score", path).out
    assert "32.2 % [" in text
    assert "25.3 % [" in text
    assert "geometric mean of 28 (of 87 judged)" in text


def test_estimates_are_unbiased_and_undefined_for_too_few(tmp_path):
    records = attempts("001_allreduce", "cccwwwwwww") + attempts("013_gemm_allreduce", "w" * 10)
    passes = score(write(tmp_path / "a.jsonl", records))["all"]["pass"]
    assert passes["1"]["value"] == pytest.approx(0.3 / 2)
    assert passes["5"]["value"] == pytest.approx(11 / 12 / 2)
    assert passes["10"]["value"] == pytest.approx(0.5)
    assert passes["10"]["problems"] == 2
    few = attempts("001_allreduce", "ccc") + attempts("013_gemm_allreduce", "www")
    passes = score(write(tmp_path / "b.jsonl", few))["all"]["pass"]
    assert sorted(passes) == ["1", "3"]
    assert passes["3"]["value"] == 0.5


def test_an_attempt_is_as_fast_as_its_scored_sizes_together(tmp_path):
    sizes = [
        size_of("tiny", "CORRECT", 100.0),
        size_of("pkb", "CORRECT", (4.0, 3.9, 4.1)),
        size_of("large", "CORRECT", (1.0, 0.9, 1.1)),
    ]
    answer = score(write(tmp_path / "a.jsonl", [record("001_allreduce", sizes=sizes)]))
    assert answer["all"]["speedup"] == {"value": pytest.approx(2)}  # one problem: no interval
    assert answer["all"]["fast"]["1.5"]["1"]["value"] == 1
    two = answer["all"]["fast"]["2"]["1"]  # exactly 2 is not more than 2
    assert (two["value"], two["by_low"], two["by_high"]) == (0, 0, 1)
    assert answer["all"]["straddling"]["2"] == 1
    assert answer["sizes"]["large"]["speedup"]["value"] == pytest.approx(1)
    assert answer["sizes"]["tiny"]["speedup"]["value"] == pytest.approx(100)


def test_the_best_of_k_falls_back_on_the_reference(tmp_path):
    """Of 3 attempts, one is 4 times faster, one slower, one wrong."""
    records = [
        record("001_allreduce", 0, speedup=4.0),
        record("001_allreduce", 1, speedup=0.25),
        record("001_allreduce", 2, "CRASH"),
    ]
    best = score(write(tmp_path / "a.jsonl", records))["all"]["best"]
    assert best["1"]["value"] == pytest.approx(4 ** (1 / 3))
    assert best["3"]["value"] == pytest.approx(4)


def test_groups_come_from_the_catalogue(tmp_path):
    records = [
        *attempts("001_allreduce", "c"),
        *attempts("013_gemm_allreduce", "w"),
        *attempts("999_made_up", "c"),
    ]
    answer = score(write(tmp_path / "a.jsonl", records))
    assert {name: group["correct"] for name, group in answer["categories"].items()} == {
        "primitive": 1,
        "tensor": 0,
        "unknown": 1,
    }
    assert answer["collectives"]["all_reduce"]["judged"] == 2
    assert answer["verdicts"] == {"CORRECT": 2, "WRONG_OUTPUT": 1}
    # The wrong one ended at tiny: it is not right at large, either.
    assert answer["sizes"]["large"] == {
        "problems": 3,
        "judged": 3,
        "reached": 2,
        "correct": 2,
        "pass_1": {"value": pytest.approx(2 / 3), "low": 0, "high": 1},
        "speedup": {"value": pytest.approx(2), "low": pytest.approx(2), "high": pytest.approx(2)},
        "speedup_of": 2,
    }


def test_the_cpu_screens_only(tmp_path):
    records = [
        record("001_allreduce", 0, device="cpu", world=4),
        record("001_allreduce", 1, "WRONG_OUTPUT", device="cpu", world=4),
    ]
    path = write(tmp_path / "a.jsonl", records)
    answer = score(path)
    assert answer["screened_on_cpu"]
    assert answer["all"]["pass"]["1"]["value"] == 0.5
    assert not {"fast", "best", "speedup"} & set(answer["all"])
    text = pkbench("score", path).out
    assert "screened on cpu" in text
    assert "fast_" not in text


def test_untimed_records_have_no_speed(tmp_path):
    path = write(tmp_path / "a.jsonl", [record("001_allreduce")])
    assert "fast" not in score(path)["all"]
    assert "not timed" in pkbench("score", path).out


def test_an_attempt_without_a_speedup_counts_as_not_faster(tmp_path):
    records = [record("001_allreduce", 0, speedup=3.0), record("001_allreduce", 1)]
    fast = score(write(tmp_path / "a.jsonl", records))["all"]
    assert fast["fast"]["1"]["1"]["value"] == 0.5
    assert fast["fast"]["1"]["1"]["by_high"] == 1
    assert fast["unmeasured"] == 1
    assert fast["straddling"]["1"] == 0


def test_the_seed_fixes_the_intervals(tmp_path):
    records = [record(problem_name(n), speedup=1 + n * n % 17 / 7) for n in range(1, 40)]
    path = write(tmp_path / "a.jsonl", records)
    assert score(path) == score(path)
    assert score(path)["all"]["speedup"] != score(path, "--seed", "2")["all"]["speedup"]


# ---- programs ----


def test_programs_that_differ_by_comments_count_once(tmp_path):
    folder = tmp_path / "samples" / "001_allreduce"
    folder.mkdir(parents=True)
    texts = ["int a;\n", "int  a; // again\n", "int b;\n", "int b;\n"]
    records = []
    for number, text in enumerate(texts):
        (folder / f"{number}.cu").write_text(text)
        records.append(record("001_allreduce", number, speedup=2.0, source=text))
    write(tmp_path / "results" / "x.jsonl", records)
    answer = score(tmp_path)
    assert answer["all"]["distinct"] == 2
    assert answer["distinct_by"] == "program"
    assert "distinct programs: 2 of 4; equal ones" in pkbench("score", tmp_path).out
    (folder / "1.cu").write_text("int c;\n")  # another text than was judged
    answer = score(tmp_path)
    assert (answer["all"]["distinct"], answer["distinct_by"]) == (3, "bytes")


# ---- what is not there ----


def test_pending_and_unsupported_attempts_are_bounded(tmp_path):
    records = attempts("001_allreduce", "cwwiu") + attempts("013_gemm_allreduce", "ccwww")
    path = write(tmp_path / "a.jsonl", records)
    answer = score(path, status=INCOMPLETE)
    one = answer["all"]["pass"]["1"]
    assert not answer["complete"]
    assert answer["all"]["coverage"] == pytest.approx(0.8)
    assert one["value"] == pytest.approx((1 / 3 + 2 / 5) / 2)
    assert one["if_fail"] == pytest.approx((1 / 5 + 2 / 5) / 2)
    assert one["if_pass"] == pytest.approx((3 / 5 + 2 / 5) / 2)
    five = answer["all"]["pass"]["5"]
    assert five["problems"] == 1  # the other one has three attempts that count
    assert (five["if_fail"], five["if_pass"]) == (1, 1)
    answer = pkbench("score", path)
    assert "INCOMPLETE" in answer.out
    assert "1 of 2" in answer.out
    assert "UNSUPPORTED here, counted neither way: 1 attempt\n" in answer.out


def test_unsupported_alone_is_complete_with_less_coverage(tmp_path):
    answer = score(write(tmp_path / "a.jsonl", attempts("001_allreduce", "cu")))
    assert answer["complete"]
    assert answer["all"]["coverage"] == 0.5
    assert answer["all"]["pass"]["1"] == {
        "value": 1,
        "problems": 1,
        "if_fail": 0.5,
        "if_pass": 1,
    }


@pytest.mark.parametrize("how", ["plan", "options", "most"])
def test_a_partial_matrix_is_marked(tmp_path, how):
    """Two problems of three, and one of those with one attempt of two."""
    records = attempts("001_allreduce", "cc") + attempts("013_gemm_allreduce", "c")
    run = tmp_path / "model"
    write(run / "results" / "a.jsonl", records)
    options = []
    problems = ["001_allreduce", "013_gemm_allreduce", "026_moe_token_preprocess"]
    if how == "plan":
        (run / "run.json").write_text(json.dumps({"problems": problems, "samples": 2}))
    if how == "options":
        options = ["--problems", "1,13,26", "--samples", "2"]
    answer = score(run, *options, status=INCOMPLETE)
    planned = 4 if how == "most" else 6
    assert answer["all"]["planned"] == planned
    assert answer["all"]["missing"] == planned - 3
    assert answer["all"]["coverage"] == pytest.approx(3 / planned)
    assert answer["all"]["pass"]["1"]["problems"] == 2
    assert answer["all"]["pass"]["1"]["if_fail"] == pytest.approx((1 + 0.5) / (planned / 2))
    text = pkbench("score", run, *options).out
    assert "INCOMPLETE" in text
    assert ("--samples says it" in text) == (how == "most")


def test_sources_without_a_record_are_missing(tmp_path):
    folder = tmp_path / "run" / "samples" / "001_allreduce"
    folder.mkdir(parents=True)
    for number in range(4):
        (folder / f"{number}.cu").write_text("int a;")
    write(tmp_path / "run" / "results" / "x.jsonl", attempts("001_allreduce", "ccc"))
    answer = score(tmp_path / "run", status=INCOMPLETE)
    assert answer["all"]["missing"] == 1


def test_plans_are_checked(tmp_path):
    write(tmp_path / "results" / "x.jsonl", attempts("001_allreduce", "cc"))
    for plan, word in (
        ('{"samples": 0}', "samples"),
        ('{"samples": "two"}', "samples"),
        ('{"problems": [1]}', "problems"),
        ('{"problems": "all"}', "problems"),
        ("{", "run.json"),
        ('{"samples": 1, "samples": 2}', '"samples" stands twice in'),
        (json.dumps({"problems": [f"{i % 1000:03}_x{i}" for i in range(60000)]}), "1000 problems"),
    ):
        (tmp_path / "run.json").write_text(plan)
        assert word in refusal(tmp_path)
    (tmp_path / "run.json").unlink()
    os.symlink("nowhere", tmp_path / "run.json")
    assert "run.json" in refusal(tmp_path)
    (tmp_path / "run.json").unlink()
    (tmp_path / "run.json").write_text('{"samples": 1, "Samples": "another key"}')
    answer = score(tmp_path)
    assert answer["all"]["planned"] == 2
    assert "1 attempt was planned" in answer["notes"][0]


# ---- mixtures ----

MIXTURES = {
    "protocol versions": {"versions": {"protocol": 1}},
    "machine classes": {"machine": {"host": "vm", "class": "another"}},
    "worlds": {"world": 4},
    "sizes asked": {"flags": {"sizes": "pkb", "timing": True, "timeout_s": 20}},
    "devices": {"device": "cpu"},
    "sandbox levels": {"sandbox": "none"},
    "time limits": {"flags": {"sizes": "all", "timing": True, "timeout_s": 5}},
    "feedback levels": None,
    "policies": None,
}


@pytest.mark.parametrize("what", MIXTURES)
def test_nothing_is_mixed_unless_asked(tmp_path, what):
    base, other = {}, MIXTURES[what]
    if other is None:
        key = {"feedback levels": "feedback", "policies": "policy"}[what]
        flags = {"sizes": "all", "timing": True, "timeout_s": 20}
        base, other = {"flags": {**flags, key: "one"}}, {"flags": {**flags, key: "two"}}
    records = [
        record("001_allreduce", 0, speedup=2.0, **base),
        record("001_allreduce", 1, speedup=2.0, **{"run": "model", **other}),
    ]
    path = write(tmp_path / "a.jsonl", records)
    message = refusal(path)
    assert what in message
    assert "a.jsonl:1" in message
    assert "a.jsonl:2" in message
    answer = score(path, "--mix")
    assert what in answer["mixed"]
    assert answer["all"]["judged"] == 2
    assert "MIXED" in pkbench("score", path, "--mix").out


def test_one_kind_of_records_can_be_taken(tmp_path):
    records = [record("001_allreduce", 0, speedup=2.0, world=world) for world in (2, 4)]
    path = write(tmp_path / "a.jsonl", records)
    assert "--world" in refusal(path)
    assert score(path, "--world", "4")["conditions"]["world"] == "4"
    assert "others than the options ask for: " in refusal(path, "--world", "8")
    assert "with --run model --device cuda --world 2" in refusal(path, "--world", "8")
    records = [record("001_allreduce", 0, speedup=2.0, run=run) for run in ("x", "y")]
    path = write(tmp_path / "b.jsonl", records)
    assert "--pool" in refusal(path)
    assert score(path, "--run", "y")["run"] == "y"
    assert score(path, "--pool")["all"]["judged"] == 2
    assert score(path, "--pool")["run"] == "x + y"  # and not where they lie
    many = [record("001_allreduce", 0, speedup=2.0, run=f"r{number}") for number in range(10)]
    path = write(tmp_path / "c.jsonl", many)
    assert score(path, "--pool")["run"].count(" + ") == 8
    assert score(path, "--pool")["run"].endswith(" + others")


def test_sizes_of_a_problem_are_not_mixed(tmp_path):
    sizes = [size_of("pkb", "CORRECT", 2.0)]
    records = [
        record("001_allreduce", 0, speedup=2.0),
        record("001_allreduce", 1, sizes=sizes, sizes_asked=["pkb"]),
    ]
    path = write(tmp_path / "a.jsonl", records)
    assert "large pkb tiny" in refusal(path)
    assert score(path, "--mix")["mixed"] == ["sizes of a problem"]


def test_a_problem_that_changed_is_another_one(tmp_path):
    """Its file or its reference; records that do not say which it was mix with both."""
    records = [
        record("001_allreduce", 0, speedup=2.0, definition="aa"),
        record("001_allreduce", 1, speedup=2.0, definition="bb"),
        record("001_allreduce", 2, speedup=2.0),
        record("013_gemm_allreduce", 0, speedup=2.0, definition="cc"),
    ]
    path = write(tmp_path / "a.jsonl", records)
    message = refusal(path)
    assert "001_allreduce was another problem" in message
    assert "a.jsonl:1" in message
    assert "a.jsonl:2" in message
    assert score(path, "--mix", status=INCOMPLETE)["mixed"] == ["definitions of a problem"]
    write(path, [records[0], *records[2:]])
    assert "mixed" not in score(path, status=INCOMPLETE)


def test_no_feedback_is_a_kind_of_its_own(tmp_path):
    flags = {"sizes": "all", "timing": True, "timeout_s": 20}
    records = [
        record("001_allreduce", 0, speedup=2.0, flags=flags),
        record("001_allreduce", 1, speedup=2.0, flags={**flags, "feedback": "full"}),
    ]
    path = write(tmp_path / "a.jsonl", records)
    assert '"none"' in refusal(path)
    assert score(path, "--mix")["conditions"]["feedback"] == ["none", "full"]


def test_what_a_record_does_not_say_mixes_with_nothing(tmp_path):
    """A source that does not compile was in no sandbox and at no size."""
    broken = record("001_allreduce", 1, "COMPILE_ERROR", sizes=[])
    del broken["sandbox"], broken["sizes_asked"]
    records = [record("001_allreduce", 0, speedup=2.0), broken]
    assert score(write(tmp_path / "a.jsonl", records))["all"]["pass"]["1"]["value"] == 0.5


# ---- several records of one attempt ----


def test_the_later_line_counts_but_takes_no_verdict_away(tmp_path):
    records = [
        record("001_allreduce", 0, "CRASH", source="old"),
        record("001_allreduce", 0, speedup=2.0, source="new"),
        record("001_allreduce", 0, "INFRA_ERROR", source="new"),
        record("001_allreduce", 1, "INFRA_ERROR"),
        record("001_allreduce", 1, "CRASH"),
        record("001_allreduce", 2, speedup=2.0, source="old"),
        record("001_allreduce", 2, "INFRA_ERROR", source="new"),
    ]
    answer = score(write(tmp_path / "a.jsonl", records), status=INCOMPLETE)
    assert answer["verdicts"] == {"INFRA_ERROR": 1, "CRASH": 1, "CORRECT": 1}


def test_files_are_joined_and_may_not_contradict(tmp_path):
    results = tmp_path / "results"
    write(results / "a.jsonl", attempts("001_allreduce", "ci"))
    write(results / "b.jsonl", attempts("013_gemm_allreduce", "cw"))
    write(results / "c.jsonl", [attempts("001_allreduce", "cc")[1]])  # judged by another machine
    (results / "notes.txt").write_text("no records")
    answer = score(tmp_path)
    assert answer["all"]["judged"] == 4
    assert answer["all"]["correct"] == 3
    write(results / "d.jsonl", [attempts("001_allreduce", "cc")[0]])  # says the same: no harm
    assert score(tmp_path)["all"]["judged"] == 4
    write(results / "e.jsonl", [attempts("001_allreduce", "ww")[0]])
    message = refusal(tmp_path)
    assert "a.jsonl:1" in message
    assert "e.jsonl:1" in message


def test_no_revision_wins_for_ever(tmp_path):
    """Who writes the largest into a file of another's is contradicted by what is judged after."""
    results = tmp_path / "results"
    most = 10**9  # what eval writes behind it
    write(results / "forged.jsonl", [record("001_allreduce", 0, revision=2**53)])
    write(results / "own.jsonl", [record("001_allreduce", 0, "CRASH", revision=most)])
    message = refusal(tmp_path)
    assert "forged.jsonl:1" in message
    assert "own.jsonl:1" in message


def test_links_to_one_file_count_once(tmp_path):
    results = tmp_path / "results"
    write(results / "a.jsonl", attempts("001_allreduce", "cc"))
    os.symlink("a.jsonl", results / "b.jsonl")
    os.symlink(tmp_path, tmp_path / "again")
    answer = score(tmp_path / "again")
    assert answer["all"]["judged"] == 2
    assert "one file" in answer["notes"][0]
    os.symlink("nothing", results / "c.jsonl")
    assert "c.jsonl" in refusal(tmp_path)


def test_records_of_debugging_are_no_score(tmp_path):
    flags = {
        "sizes": "all",
        "timing": True,
        "timeout_s": 20,
        "debug": {"rank": 0, "tool": "memcheck"},
    }
    records = [record("001_allreduce", 0, speedup=2.0), record("001_allreduce", 1, flags=flags)]
    answer = score(write(tmp_path / "a.jsonl", records))
    assert answer["all"]["judged"] == 1
    assert "--debug" in answer["notes"][0]


# ---- other forms ----


def test_every_run_is_scored_by_itself(tmp_path):
    paths = [
        write(tmp_path / f"{run}.jsonl", attempts("001_allreduce", verdicts, run=run))
        for run, verdicts in (("x", "cw"), ("y", "ww"))
    ]
    answer = pkbench("score", "--json", *paths)
    scores = [json.loads(line) for line in answer.out.splitlines()]
    assert [one["run"] for one in scores] == ["x", "y"]
    assert [one["all"]["pass"]["1"]["value"] for one in scores] == [0.5, 0]


def test_csv_says_what_json_says(tmp_path):
    records = attempts("001_allreduce", "cwwi") + attempts("013_gemm_allreduce", "ccww")
    path = write(tmp_path / "a.jsonl", records)
    wanted = score(path, status=INCOMPLETE)["all"]
    answer = pkbench("score", "--csv", path)
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    (row,) = [
        one
        for one in rows
        if (one["group"], one["metric"], one["p"], one["k"]) == ("all", "fast", "1.5", "3")
    ]
    for key in ("value", "low", "high", "if_fail", "if_pass", "by_low", "by_high"):
        assert float(row[key]) == pytest.approx(wanted["fast"]["1.5"]["3"][key], rel=1e-6), key
    assert row["complete"] == "no"
    undefined = [one for one in rows if one["metric"] == "pass" and one["k"] == "10"]
    assert undefined
    assert all(one["value"] == "" for one in undefined)
    assert "exclude" in refusal("--csv", "--json", path)


def test_what_eval_writes_is_scored(tmp_path):
    folder = tmp_path / "run" / "001_allreduce"
    folder.mkdir(parents=True)
    honest = (ROOT / "examples" / "001_allreduce.cu").read_text()
    for name, text in (("a", honest), ("b", "int broken"), ("c", honest), ("d", "// nothing")):
        (folder / f"{name}.cu").write_text(text)
    quick = ("--device", "cpu", "--sizes", "tiny", "--timeout", "5")
    assert pkbench("eval", tmp_path / "run", *quick).status == 0
    answer = score(tmp_path / "run")
    assert answer["complete"]
    assert answer["run"] == "run"
    (results,) = (tmp_path / "run" / "results").iterdir()
    definitions = {json.loads(line)["definition"] for line in results.read_text().splitlines()}
    assert len(definitions) == 1
    assert len(definitions.pop()) == 64
    assert (answer["all"]["judged"], answer["all"]["correct"]) == (4, 2)
    assert (answer["all"]["distinct"], answer["distinct_by"]) == (3, "program")
    assert answer["all"]["pass"]["3"]["value"] == 1
    assert answer["screened_on_cpu"]
    (folder / "e.cu").write_text(honest)
    assert score(tmp_path / "run", status=INCOMPLETE)["all"]["missing"] == 1
