# SPDX-License-Identifier: Apache-2.0
"""`pkbench score` over files that are damaged, hostile or large."""

import json
import os

import pytest

from tests.e2e.command import pkbench
from tests.e2e.processes import within
from tests.e2e.records import record, size_of, write
from tests.e2e.scores import INCOMPLETE, attempts, refusal, score


def test_lines_that_are_no_records_are_told_and_nothing_else_is_lost(tmp_path):
    good = [json.dumps(one) for one in attempts("001_allreduce", "cwcw")]
    path = tmp_path / "a.jsonl"
    path.write_text(
        f"{good[0]}\n"
        f"{good[1][:200]}\n"  # cut by a writer that died
        f"{good[1]}{good[2]}\n"  # two on a line
        f"\n{good[2]}\n"
        f"{good[3].replace('WRONG', chr(0))}\n"
        f'{{"schema": 1, "verdict": "CORRECT"}}\n'
        f"{good[3][:-20]}"
    )
    answer = pkbench("score", "--json", path)
    assert answer.status == INCOMPLETE
    assert answer.record["all"]["judged"] == 2
    assert answer.record["broken_lines"] == 5
    assert not answer.record["complete"]
    notes = answer.record["notes"]
    for line, note in zip((2, 3, 6, 7, 8), notes, strict=True):
        assert f"a.jsonl:{line} is no record" in note
    assert "in its middle" in notes[-1]
    assert answer.err.count("note: ") == 5


def test_doubled_keys_are_no_record(tmp_path):
    line = json.dumps(record("001_allreduce", 1, "CRASH"))
    doubled = line.replace('"verdict": "CRASH"', '"verdict": "CRASH", "verdict": "CORRECT"', 1)
    path = write(tmp_path / "a.jsonl", [record("001_allreduce", 0, "CRASH"), doubled])
    answer = score(path, status=INCOMPLETE)
    assert answer["all"]["correct"] == 0
    assert '"verdict" stands twice in it' in answer["notes"][0]


def test_an_unknown_schema_is_refused(tmp_path):
    records = [record("001_allreduce", 0), record("001_allreduce", 1, schema=2)]
    message = refusal(write(tmp_path / "a.jsonl", records))
    assert "a.jsonl:2" in message
    assert "schema is 2" in message


def test_a_verdict_beyond_its_sizes_is_no_record(tmp_path):
    sizes = [size_of("tiny", "CORRECT"), size_of("pkb", "WRONG_OUTPUT")]
    path = write(tmp_path / "a.jsonl", [record("001_allreduce", 0, sizes=sizes)])
    assert "holds no record that counts" in refusal(path)


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_a_batch_that_lacks_a_rank_is_in_no_record(tmp_path, separators):
    records = [record("001_allreduce", n, speedup=2.0, batch_count=4, world=4) for n in range(2)]
    path = tmp_path / "a.jsonl"

    def write_lines():
        path.write_text("".join(json.dumps(r, separators=separators) + "\n" for r in records))

    write_lines()
    assert score(path)["all"]["judged"] == 2
    records[1]["sizes"][2]["batches"][3]["rank_ns"].pop()
    write_lines()
    answer = score(path, status=INCOMPLETE)
    assert answer["all"]["judged"] == 1
    assert "times of 3 ranks, and there were 4" in answer["notes"][0]


def test_there_must_be_records(tmp_path):
    assert "cannot find" in refusal(tmp_path / "missing")
    assert "pkbench eval" in refusal(tmp_path)
    (tmp_path / "results").mkdir()
    assert "pkbench eval" in refusal(tmp_path)
    (tmp_path / "results" / "a.jsonl").write_text("")
    assert "no record" in refusal(tmp_path)
    (tmp_path / "results" / "b.jsonl").mkdir()
    assert "b.jsonl is no ordinary file" in refusal(tmp_path)
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert "no ordinary file" in refusal(tmp_path / "pipe.jsonl")
    assert "name a run" in refusal()


def test_long_files_are_not_kept(tmp_path):
    """30 MB of records in 24 MB of memory."""
    line = json.dumps(record("001_allreduce", 0, speedup=2.0, batch_count=1000))
    path = tmp_path / "a.jsonl"
    with path.open("w") as file:
        for number in range(100):
            file.write(line.replace('"sample": 0', f'"sample": {number}') + "\n")
    assert path.stat().st_size > 28_000_000
    answer = pkbench("score", "--json", path, preexec_fn=within(24))
    assert answer.status == 0, answer.err
    assert answer.record["all"]["judged"] == 100


def test_a_huge_line_is_passed_over(tmp_path):
    """A hole of 300 MB in the middle of the records."""
    good = [json.dumps(one) for one in attempts("001_allreduce", "cc")]
    path = tmp_path / "a.jsonl"
    path.write_text(good[0] + "\n")
    with path.open("r+b") as file:
        file.seek(300_000_000)
        file.write(f"\n{good[1]}\n".encode())
    answer = pkbench("score", "--json", path, preexec_fn=within(100))
    assert answer.status == INCOMPLETE, answer.err
    assert answer.record["all"]["judged"] == 2
    assert "longer than a record" in answer.record["notes"][0]


@pytest.mark.parametrize("name", ["with space", "-n", "ü\x1b[31m\nx", "a" * 200, "'\"$(x)"])
def test_names_of_any_kind(tmp_path, name):
    write(
        tmp_path / name / "results" / f"{name[:100]}.jsonl", [*attempts("001_allreduce", "c"), "x"]
    )
    answer = pkbench("score", "--json", "--", name, cwd=tmp_path)
    assert answer.status == INCOMPLETE, answer.err
    assert answer.record["all"]["judged"] == 1
    assert "\x1b" not in answer.err
