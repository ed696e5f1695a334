# SPDX-License-Identifier: Apache-2.0
"""pkbench export --leaderboard: a line a run, with the numbers of its score."""

import hashlib
import json
import random

from tests.e2e.command import ROOT, pkbench
from tests.e2e.records import PROTOCOL, record, write
from tests.e2e.scores import INCOMPLETE, attempts, score


def leaderboard(*arguments, status: int = 0) -> list[dict]:
    import jsonschema

    schema = json.loads((ROOT / "results" / "leaderboard.schema.json").read_text())
    answer = pkbench("export", "--leaderboard", "-", *arguments)
    assert answer.status == status, answer.err
    lines = [json.loads(line) for line in answer.out.splitlines()]
    jsonschema.Draft202012Validator.check_schema(schema)
    for line in lines:
        jsonschema.validate(line, schema, jsonschema.Draft202012Validator)
    return lines


def hash_of(lines: list[str]) -> str:
    hashes = sorted(hashlib.sha256(line.encode()).hexdigest() for line in lines)
    return hashlib.sha256("".join(one + "\n" for one in hashes).encode()).hexdigest()


def test_a_leaderboard_has_the_numbers_of_the_score(tmp_path):
    records = [
        record(name, number, speedup=2.0, definition=f"{name[:3]:064}")
        for name in ("001_allreduce", "013_gemm_allreduce")
        for number in range(3)
    ]
    path = write(tmp_path / "a.jsonl", records)
    (line,) = leaderboard(path)
    wanted = score(path)
    for key in ("complete", "conditions", "all", "categories", "collectives", "sizes", "verdicts"):
        assert line[key] == wanted[key], key
    assert line["name"] == "model"
    assert line["models"] == []
    assert line["versions"] == {
        "pkbench": ["0.1.0"],
        "protocol": [str(PROTOCOL)],
        "torch": ["2.11.0"],
    }
    assert line["records"] == {"count": 6, "sha256": hash_of([json.dumps(r) for r in records])}
    text = f"001_allreduce {'001':064}\n013_gemm_allreduce {'013':064}\n"
    assert line["suite"] == {
        "problems": 2,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }


def test_the_hash_is_of_the_records_however_they_lie(tmp_path):
    lines = [json.dumps(one) for one in attempts("001_allreduce", "cwcw")]
    one = write(tmp_path / "one.jsonl", lines)
    random.Random(1).shuffle(lines)
    old = json.dumps(record("001_allreduce", 0, "CRASH", source="older"))
    write(tmp_path / "two" / "results" / "a.jsonl", [old, *lines[:2]])
    write(tmp_path / "two" / "results" / "b.jsonl", lines[2:])
    if any('"sample": 0' in line for line in lines[2:]):
        write(tmp_path / "two" / "results" / "a.jsonl", lines[:2])
    assert leaderboard(one)[0]["records"] == leaderboard(tmp_path / "two")[0]["records"]
    write(one, lines[1:])
    assert leaderboard(one)[0]["records"]["sha256"] == hash_of(lines[1:])


def test_a_leaderboard_says_what_it_wrote(tmp_path):
    path, out = write(tmp_path / "run.jsonl", [record("001_allreduce")]), tmp_path / "runs.jsonl"
    answer = pkbench("export", "--leaderboard", out, path)
    assert f"wrote 1 line to {out}" in answer.err
    assert len(out.read_text().splitlines()) == 1


def test_a_leaderboard_marks_what_is_not_whole(tmp_path):
    screened = write(
        tmp_path / "s.jsonl",
        [record("001_allreduce", 0, device="cpu"), record("013_gemm_allreduce", 0, device="cpu")],
    )
    partial = write(tmp_path / "p.jsonl", attempts("001_allreduce", "cwiu"))
    mixed = write(
        tmp_path / "m.jsonl",
        [record("001_allreduce", n, speedup=2.0, world=2 + 2 * n) for n in range(2)],
    )
    lines = leaderboard(screened, partial, mixed, "--mix", status=INCOMPLETE)
    assert [line["screened_on_cpu"] for line in lines] == [True, False, False]
    assert [line["complete"] for line in lines] == [True, False, True]
    assert ["mixed" in line for line in lines] == [False, False, True]
    assert "fast" not in lines[0]["all"]
    assert lines[1]["all"]["pass"]["1"]["if_pass"] == 0.75
    assert lines[2]["conditions"]["world"] == ["2", "4"]
    assert "sha256" not in lines[0]["suite"]


def test_a_leaderboard_names_the_models_of_imported_samples(tmp_path):
    completions = [
        {"problem": 1, "sample": k, "completion": "```cuda\nvoid pkb_run();\n```", "model": model}
        for k, model in enumerate(["alpha", "beta", "alpha"])
    ]
    file = tmp_path / "c.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in completions))
    run = tmp_path / "run"
    assert pkbench("import", file, run).status == 0
    write(run / "results" / "a.jsonl", attempts("001_allreduce", "cwc"))
    assert leaderboard(run)[0]["models"] == ["alpha", "beta"]
    (run / "run.json").write_text('{"models": ["gamma", "beta"]}')
    assert leaderboard(run)[0]["models"] == ["alpha", "beta", "gamma"]
    for models in ('"gamma"', "[1]", '{"a": 1}'):
        (run / "run.json").write_text(f'{{"models": {models}}}')
        answer = pkbench("export", run, "--leaderboard", "-")
        assert answer.status == 2, answer.err
        assert '"models" of ' in answer.err
