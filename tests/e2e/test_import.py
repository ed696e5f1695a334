# SPDX-License-Identifier: Apache-2.0
"""Prompts out, completions in: from one's own inference to records."""

import gzip
import hashlib
import json
import os
import resource
import subprocess
from pathlib import Path

import pytest

from tests.e2e.command import PKBENCH, ROOT, Answer, pkbench

PROBLEMS = sorted(path.stem for path in (ROOT / "problems").glob("[0-9]*.json"))
HONEST = (ROOT / "examples" / "001_allreduce.cu").read_text()
ANSWER = f"Each rank reads its peers.\n\n```cuda\n{HONEST}```\n"
QUICK = ("--device", "cpu", "--sizes", "tiny", "--no-timing")


def write(path: Path, *lines: dict | str) -> Path:
    path.write_text(
        "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines)
    )
    return path


def completion(text: str | None, problem: str | int = "001_allreduce", **more) -> dict:
    return {"problem": problem, "completion": text, **more}


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def demand(answer: Answer, status: int, *words: str) -> None:
    assert answer.status == status, answer.err
    for word in words:
        assert word in answer.err, answer.err


def test_prompts_of_all_and_of_some():
    lines = [json.loads(line) for line in pkbench("prompt", "--all", "--jsonl").out.splitlines()]
    assert [line["problem"] for line in lines] == PROBLEMS
    for line in lines:
        (message,) = line["messages"]
        assert message["role"] == "user"
        digest = hashlib.sha256(message["content"].encode()).hexdigest()
        assert line["prompt_sha256"] == digest
    assert lines[0] == json.loads(pkbench("prompt", "1", "--json").out)
    assert lines[0]["messages"][0]["content"] == pkbench("prompt", "1").out
    some = pkbench("prompt", "--problems", "13,1-2", "--jsonl").out.splitlines()
    assert [json.loads(line)["problem"][:3] for line in some] == ["001", "002", "013"]
    demand(pkbench("prompt", "--all"), 2, "--jsonl")
    demand(pkbench("prompt", "--all", "--jsonl", "13"), 2, "not both")
    demand(pkbench("prompt", "--problems", "nonsense", "--jsonl"), 2, "nonsense", "1-20,31,tensor")
    demand(pkbench("prompt"), 2, "which problem?")


def test_from_completions_to_a_score(tmp_path):
    run = tmp_path / "run"
    source = write(
        tmp_path / "completions.jsonl",
        completion(ANSWER, finish_reason="stop", model="some-model"),
        completion("I would rather not.", problem=1, finish_reason="stop"),
        completion(ANSWER[: len(ANSWER) // 2], problem="allreduce", finish_reason="length"),
        completion("", problem="13"),
        completion(None, problem="13"),
    )
    answer = pkbench("import", source, run)
    demand(answer, 0, "1 sample with code, 3 NO_CODE, 1 TRUNCATED", f"pkbench eval {run}")
    samples = run / "samples" / "001_allreduce"
    assert (samples / "0.cu").read_text() == HONEST
    assert [(samples / f"{k}.cu").read_text() for k in (1, 2)] == ["", ""]
    status = json.loads((samples / "0.json").read_text())
    assert status == {
        "problem": "001_allreduce",
        "sample": 0,
        "status": "CODE",
        "extraction": {
            "version": 1,
            "rule": "entry_point",
            "blocks": 1,
            "block": 1,
            "bytes": len(HONEST),
            "sha256": hashlib.sha256(HONEST.encode()).hexdigest(),
        },
        "completion_sha256": hashlib.sha256(ANSWER.encode()).hexdigest(),
        "finish_reason": "stop",
        "model": "some-model",
    }
    cut = json.loads((samples / "2.json").read_text())
    assert cut["status"] == "TRUNCATED"
    assert HONEST.startswith(cut["unfinished"])

    first = pkbench("eval", run, *QUICK, "--json")
    assert first.status == 0, first.err
    records = [json.loads(line) for line in first.out.splitlines()]
    assert [(one["problem"], one["sample"], one["verdict"]) for one in records] == [
        ("001_allreduce", 0, "CORRECT"),
        ("001_allreduce", 1, "NO_CODE"),
        ("001_allreduce", 2, "TRUNCATED"),
        ("013_gemm_allreduce", 0, "NO_CODE"),
        ("013_gemm_allreduce", 1, "NO_CODE"),
    ]
    assert "length limit" in records[2]["reason"]
    assert "no block of code" in records[1]["reason"]
    assert all("compile" not in one["cost_s"] for one in records[1:])
    assert records[1]["judgement"] != records[2]["judgement"]
    demand(pkbench("eval", run, *QUICK), 0, "5 judged before")
    # All of them are in n.
    score = json.loads(pkbench("score", run, "--json").out)
    assert score["verdicts"]["TRUNCATED"] == 1, score["verdicts"]
    assert score["verdicts"]["NO_CODE"] == 3, score["verdicts"]


def test_an_import_plans_the_run_once(tmp_path):
    run = tmp_path / "run"
    lines = [
        completion("no", model="b", prompt_sha256="11"),
        completion("no", model="a", prompt_sha256="11"),
        completion("no", model="b", prompt_sha256="22"),
        completion("no", problem=13, model="a"),
    ]
    answer = pkbench("import", write(tmp_path / "a.jsonl", *lines), run)
    demand(answer, 0, "run.json plans 3 samples of each of 2 problems", "name 2 models")
    plan = json.loads((run / "run.json").read_text())
    assert plan["versions"].pop("pkbench")
    assert plan == {
        "schema": 1,
        "problems": ["001_allreduce", "013_gemm_allreduce"],
        "samples": 3,
        "models": ["b", "a"],
        "prompts": {"001_allreduce": ["11", "22"]},
        "versions": {"extraction": 1},
    }
    # What is planned is not what is there: problem 13 lacks two samples.
    assert pkbench("eval", run, *QUICK).status == 0
    score = pkbench("score", run, "--json")
    assert score.status == 6
    assert (score.record["all"]["planned"], score.record["all"]["missing"]) == (6, 2)
    kept = (run / "run.json").read_text().replace("3", "4")
    (run / "run.json").write_text(kept)
    answer = pkbench("import", write(tmp_path / "b.jsonl", completion("no", problem=26)), run)
    assert answer.status == 0, answer.err
    assert "run.json" not in answer.err
    assert "models" not in answer.err
    assert (run / "run.json").read_text() == kept


def test_a_source_put_in_a_truncated_place_counts_as_what_it_is(tmp_path):
    run = tmp_path / "run"
    source = write(tmp_path / "c.jsonl", completion("```cuda\nint", finish_reason="length"))
    assert pkbench("import", source, run).status == 0
    (run / "samples" / "001_allreduce" / "0.cu").write_text("int broken")
    again = pkbench("eval", run, *QUICK, "--json")
    assert [json.loads(line)["verdict"] for line in again.out.splitlines()] == ["COMPILE_ERROR"]


def test_a_truncated_file_alone_is_truncated(tmp_path):
    source = write(tmp_path / "c.jsonl", completion("```cuda\nint", finish_reason="length"))
    assert pkbench("import", source, tmp_path / "run").status == 0
    path = tmp_path / "run" / "samples" / "001_allreduce" / "0"
    answer = pkbench("eval", f"{path}.cu", "-p", "1", *QUICK, "--json")
    assert answer.status == 1
    assert answer.record["verdict"] == "TRUNCATED"
    path.with_suffix(".json").write_text("{")
    answer = pkbench("eval", f"{path}.cu", "-p", "1", *QUICK)
    demand(answer, 2, "0.json is not valid JSON", "--replace")


def test_the_same_file_twice_and_another_one(tmp_path):
    run = tmp_path / "run"
    first = write(tmp_path / "a.jsonl", completion(ANSWER), completion("no"))
    assert pkbench("import", first, run).status == 0
    before = files(run)
    demand(pkbench("import", first, run), 0, "2 of them were there already")
    assert files(run) == before
    second = write(tmp_path / "b.jsonl", completion(ANSWER), completion(ANSWER))
    demand(pkbench("import", second, run), 2, "b.jsonl:2", "1.cu", "--replace", "nothing was")
    assert files(run) == before
    demand(pkbench("import", second, run, "--replace"), 0, "2 samples with code", "1 of them")
    after = files(run)
    assert after["samples/001_allreduce/1.cu"].decode() == HONEST
    assert set(after) == set(before)  # nothing temporary was left
    # What a person wrote is not overwritten, either.
    (run / "samples" / "001_allreduce" / "0.cu").write_text("mine")
    demand(pkbench("import", second, run), 2, "b.jsonl:1", "0.cu")
    # A sample whose source is missing was not imported to its end.
    (run / "samples" / "001_allreduce" / "0.cu").unlink()
    assert pkbench("import", second, run).status == 0
    assert files(run) == after


def test_samples_as_the_lines_say(tmp_path):
    run = tmp_path / "run"
    source = write(
        tmp_path / "c.jsonl",
        completion(ANSWER, sample=7, Sample="another key"),
        "",
        completion("", 13, Sample="another key"),
    )
    assert pkbench("import", source, run).status == 0
    assert sorted(name for name in files(run) if name.endswith(".cu")) == [
        "samples/001_allreduce/7.cu",
        "samples/013_gemm_allreduce/0.cu",
    ]


FAULTS = [
    ("not JSON", "not one JSON object"),
    ("[1]", "not one JSON object"),
    ('{"problem": "1", "completion": "a"} {}', "not one JSON object"),
    ('{"problem": "1", "completion": "a", "completion": "b"}', '"completion" stands twice'),
    ({"completion": "a"}, '"problem" is missing'),
    ({"problem": "1"}, '"completion" is missing'),
    (completion("a", problem="nothing_like_it"), "nothing_like_it"),
    (completion("a", problem=1.5), "1.5"),
    (completion("a", problem=[]), '"problem" is no name'),
    (completion(["a"]), '"completion" is no text'),
    (completion("a", sample=-1), '"sample" is no whole number'),
    (completion("a", sample="1"), '"sample" is no whole number'),
    (completion("a", sample=1000000), '"sample" is no whole number'),
    (completion("a", sample=0), "must all have it, or none"),
    (completion("a", finish_reason=3), '"finish_reason" is no text'),
    (completion("a\0b"), "NUL"),
    (completion("a" * (8 << 20)), "8388608 bytes at most"),
    (completion("a\x1b]0;x\x07", problem="\x1b[2J"), ":2: "),
]


@pytest.mark.parametrize(("line", "words"), FAULTS, ids=[words for _, words in FAULTS])
def test_a_faulty_line_is_named(tmp_path, line, words):
    run = tmp_path / "run"
    source = write(tmp_path / "c.jsonl", completion(ANSWER), line)
    answer = pkbench("import", source, run)
    demand(answer, 2, "c.jsonl:2: ", words, "nothing was written")
    assert "\x1b" not in answer.err
    assert not run.exists()


def test_what_is_no_file_of_lines_is_told_once(tmp_path):
    line, run = json.dumps(completion(ANSWER)) + "\n", tmp_path / "run"
    for data, words in (
        (gzip.compress(line.encode()), "compressed; unpack it first"),
        (b"\x28\xb5\x2f\xfd\x00\x00", "compressed; unpack it first"),
        (f"\n [{line}]".encode(), "is a JSON list; wanted is one object a line"),
        (b"[\n {\n", "is a JSON list; wanted is one object a line"),
    ):
        source = tmp_path / "completions.jsonl"
        source.write_bytes(data)
        answer = pkbench("import", source, run)
        demand(answer, 2, words)
        assert "nothing was written" not in answer.err
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    demand(pkbench("import", pipe, run), 2, "it is read twice; store the lines in a file first")
    assert not run.exists()


def test_standard_input_is_as_good_as_a_file(tmp_path):
    """Through a pipe, and redirected by somebody who read the first line."""
    lines = write(tmp_path / "c.jsonl", completion(ANSWER), completion("", 13)).read_bytes()
    piped = subprocess.run([PKBENCH, "import", "-", tmp_path / "piped"], input=lines, check=True)
    assert piped.returncode == 0
    with (tmp_path / "d.jsonl").open("w+b", buffering=0) as source:
        source.write(b"a title\n" + lines)
        source.seek(len(b"a title\n"))
        subprocess.run([PKBENCH, "import", "-", tmp_path / "read"], stdin=source, check=True)
    pkbench("import", tmp_path / "c.jsonl", tmp_path / "named")
    assert files(tmp_path / "piped") == files(tmp_path / "read") == files(tmp_path / "named")


@pytest.mark.parametrize(
    ("data", "tmpdir", "words"),
    [
        (b'{"problem": 1}\n', "/tmp", "standard input:1: the key"),
        (b"", "/tmp", "standard input holds no completions"),
        (b"[{}]", "/tmp", "standard input is a JSON list"),
        (b"{}", "/nowhere", "TMPDIR names another folder"),
    ],
)
def test_faults_of_standard_input(tmp_path, data, tmpdir, words):
    done = subprocess.run(
        [PKBENCH, "import", "-", tmp_path / "run"],
        input=data,
        capture_output=True,
        env={**os.environ, "TMPDIR": tmpdir},
    )
    assert done.returncode == (5 if tmpdir == "/nowhere" else 2)
    assert words in done.stderr.decode()
    assert not (tmp_path / "run").exists()


def test_other_faults(tmp_path):
    run = tmp_path / "run"
    double = [completion("a", sample=k) for k in (3, 4, 3)]
    source = write(tmp_path / "c.jsonl", *double)
    demand(pkbench("import", source, run), 2, "c.jsonl:3: sample 3", "line 1")
    source.write_text(json.dumps(completion("a")) + "\n" + json.dumps(completion("b"))[:-4])
    demand(pkbench("import", source, run), 2, "c.jsonl:2: ", "ends in the line's middle")
    source.write_text(json.dumps(completion("a")))  # only the newline is missing
    demand(pkbench("import", source, tmp_path / "other"), 0, "1 NO_CODE")
    write(source, *["x"] * 50)
    answer = pkbench("import", source, run)
    demand(answer, 2, "c.jsonl:20: ", "30 faults more", "50 faults")
    assert "c.jsonl:21: " not in answer.err
    source.write_text("\n \n")
    demand(pkbench("import", source, run), 2, "holds no completions")
    demand(pkbench("import", tmp_path / "none.jsonl", run), 2, "none.jsonl")
    demand(pkbench("import", tmp_path, run), 2, "no ordinary file")
    demand(pkbench("import", source), 2, "which run?")
    demand(pkbench("import", source, source), 2, "is no folder")
    demand(pkbench("import", source, "-"), 2, "name the folder of a run")
    assert not run.exists()
    write(source, completion("a"))
    run.mkdir()
    (run / "samples").write_text("a file")
    demand(pkbench("import", source, run), 5, "samples")


def test_more_code_than_an_attempt_may_have(tmp_path):
    source = write(tmp_path / "c.jsonl", completion(f"```cuda\n{'x' * (1 << 20)}\n```\n"))
    assert pkbench("import", source, tmp_path / "run").status == 0
    status = json.loads((tmp_path / "run/samples/001_allreduce/0.json").read_text())
    assert (status["status"], status["extraction"]["bytes"]) == ("NO_CODE", 0)
    assert "1 MiB" in status["reason"]


def test_a_large_file_takes_little_memory(tmp_path):
    """128 MiB of completions, with no more than 100 MiB of address space."""
    text = "word " * 800_000
    line = json.dumps(completion(text)) + "\n"
    source = tmp_path / "large.jsonl"
    with source.open("w") as out:
        for _ in range(33):
            out.write(line)
    assert source.stat().st_size > 128_000_000

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (100 << 20, 100 << 20))

    done = subprocess.run(
        [PKBENCH, "import", source, tmp_path / "run"], preexec_fn=limit, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"33 NO_CODE" in done.stderr
    source.unlink()
