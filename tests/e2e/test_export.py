# SPDX-License-Identifier: Apache-2.0
"""`pkbench export`: the records that count as tables and as lines for a leaderboard."""

import csv
import importlib.util
import io
import json
import os
import re
import stat
import subprocess
import sys

import pytest

from tests.e2e.command import ROOT, pkbench
from tests.e2e.processes import HUNG_S, within
from tests.e2e.records import PROTOCOL, record, size_of, write
from tests.e2e.scores import INCOMPLETE, attempts, score

KINDS = ("attempts", "sizes", "batches")
PAGE = (ROOT / "docs" / "export.md").read_text()

needs_duckdb = pytest.mark.skipif(
    importlib.util.find_spec("duckdb") is None, reason="duckdb is not installed"
)


def columns(kind: str) -> dict[str, str]:
    answer = pkbench("export", "--columns", "--rows", kind)
    assert answer.status == 0
    return dict(line.split()[:2] for line in answer.out.splitlines())


def table(*arguments, status: int = 0, kind: str = "attempts") -> list[dict]:
    answer = pkbench("export", "--csv", "-", "--rows", kind, *arguments)
    assert answer.status == status, answer.err
    return list(csv.DictReader(io.StringIO(answer.out, newline="")))


def refusal(*arguments, status: int = 2, **options) -> str:
    answer = pkbench("export", *arguments, **options)
    assert answer.status == status, (answer.out, answer.err)
    return answer.err


def parquet(path, rows: str = "*") -> list[dict]:
    import duckdb

    found = duckdb.sql(f"SELECT {rows} FROM '{path}'")
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


@pytest.fixture
def run(tmp_path):
    """A run of three attempts at two problems in two files."""
    wrong = record("001_allreduce", 1, "WRONG_OUTPUT", reason='not "so", \x1b[31mthis', world=2)
    wrong["where"] = {"rank": 1, "output": "y", "index": [3, 0], "expected": 0.5, "got": "nan"}
    wrong["sizes"][0] |= {"reason": wrong["reason"], "where": wrong["where"]}
    first = record("001_allreduce", 0, speedup=(2.0, 1.5, 2.5), batch_count=4)
    first["sizes"][1]["time_us"] = {"attempt": 0.1, "eager": 1 / 3}
    results = tmp_path / "model" / "results"
    write(results / "b.jsonl", [record("013_gemm_allreduce", 0, speedup=4.0), "no record"])
    write(results / "a.jsonl", [wrong, record("001_allreduce", 0, "INFRA_ERROR"), first])
    return tmp_path / "model"


# ---- tables ----


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_has_the_columns(kind):
    lines = pkbench("export", "--columns", "--rows", kind).out
    assert f"### {kind}\n" in PAGE
    assert f"```\n{lines}```" in PAGE


def test_a_row_is_an_attempt(run):
    rows = table(run, status=INCOMPLETE)
    assert [(row["problem"], row["sample"]) for row in rows] == [
        ("001_allreduce", "0"),
        ("001_allreduce", "1"),
        ("013_gemm_allreduce", "0"),
    ]
    first, wrong, other = rows
    assert list(first) == list(columns("attempts"))
    assert first["id"] == "model/001_allreduce/0/cuda/2"
    assert (first["category"], other["category"]) == ("primitive", "tensor")
    assert (first["verdict"], first["judged"], first["correct"]) == ("CORRECT", "true", "true")
    assert (wrong["verdict"], wrong["judged"], wrong["correct"]) == (
        "WRONG_OUTPUT",
        "true",
        "false",
    )
    assert float(first["speedup"]) == pytest.approx(2)
    assert float(first["speedup_low"]) == pytest.approx(1.5)
    assert wrong["speedup"] == wrong["same_as"] == first["reason"] == ""
    assert wrong["reason"] == 'not "so", ?[31mthis'
    assert wrong["where_index"] == "[3,0]"
    assert (wrong["where_expected"], wrong["where_got"]) == ("0.5", "nan")
    assert first["sizes_asked"] == "large pkb tiny"
    assert first["machine_class"].startswith("NVIDIA H200")
    assert (first["protocol"], first["timeout_s"], first["timing"]) == (str(PROTOCOL), "20", "true")
    assert "-1" not in first.values()
    assert "1 lines that are no record" in pkbench("export", run, "--csv", "-").err


def test_a_row_is_a_size_or_a_batch(run):
    rows = table(run, status=INCOMPLETE, kind="sizes")
    assert len(rows) == 3 + 1 + 3
    tiny, pkb = rows[:2]
    assert (tiny["size"], tiny["scored"], pkb["size"], pkb["scored"]) == (
        "tiny",
        "false",
        "pkb",
        "true",
    )
    assert (pkb["attempt_us"], pkb["eager_us"]) == ("0.1", "0.3333333333333333")
    assert (pkb["batches"], rows[3]["batches"]) == ("4", "")
    assert (rows[3]["verdict"], rows[3]["where_rank"]) == ("WRONG_OUTPUT", "1")
    rows = table(run, status=INCOMPLETE, kind="batches")
    assert len(rows) == 3 * 4
    assert (rows[5]["side"], rows[5]["pair"], rows[5]["n"]) == ("eager", "0", "163")
    assert rows[5]["rank_ns"] == "[9997880,9993122]"


def test_doubled_keys_in_a_batch_are_named(tmp_path):
    line = json.dumps(record("001_allreduce", 0, speedup=(2.0, 1.5, 2.5), batch_count=4))
    doubled = line.replace('"pair": 0', '"pair": 0, "pair": 1', 1)
    path = write(tmp_path / "a.jsonl", [doubled])
    message = refusal(path, "--csv", "-", "--rows", "batches")
    assert 'a.jsonl:1 is no record: the key "pair" stands twice in it' in message


def test_what_does_not_count_is_judged_by_nobody(tmp_path):
    rows = table(write(tmp_path / "a.jsonl", attempts("001_allreduce", "ciu")), status=INCOMPLETE)
    assert [(row["judged"], row["correct"]) for row in rows] == [
        ("true", "true"),
        ("false", ""),
        ("false", ""),
    ]


def test_ids_are_made_of_the_parts(tmp_path):
    path = write(tmp_path / "a.jsonl", [record("001_allreduce", 3, speedup=2.0, id="odd")])
    for kind in ("attempts", "sizes"):
        assert table(path, kind=kind, status=0)[0]["id"] == "model/001_allreduce/3/cuda/2"


def test_the_cpu_has_no_speedup(tmp_path):
    sizes = [size_of("tiny", "CORRECT", 3.0)]
    path = write(tmp_path / "a.jsonl", [record("001_allreduce", sizes=sizes, device="cpu")])
    assert table(path)[0]["speedup"] == ""
    assert table(path, kind="sizes")[0]["speedup"] == ""


def test_formulas_are_texts(tmp_path):
    texts = ["=1+2", "+1", "-1", "@x", "'quoted", "\t=1", "a=1", '"=1"', "", "\uff1d1", "\uff20x"]
    records = [
        record("001_allreduce", number, "CRASH", reason=text) for number, text in enumerate(texts)
    ]
    rows = table(write(tmp_path / "a.jsonl", records))
    assert [row["reason"] for row in rows] == [
        *("'=1+2", "'+1", "'-1", "'@x", "''quoted", " =1", "a=1", '"=1"', ""),
        *("'\uff1d1", "'\uff20x"),
    ]


def test_texts_are_made_harmless(tmp_path):
    texts = ["a\x1b[2Jb", "line\nline", "\u202etxt", "x" * 40000, "ü\ud800"]
    records = [
        record("001_allreduce", number, "CRASH", reason=text) for number, text in enumerate(texts)
    ]
    path = write(tmp_path / "a.jsonl", records)
    with path.open("ab") as file:
        file.write(json.dumps(record("001_allreduce", 9, reason="BYTE")).encode())
        file.seek(0)
    path.write_bytes(path.read_bytes().replace(b"BYTE", b"\xff") + b"\n")
    answer = pkbench("export", "--csv", "-", path)
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    reasons = [row["reason"] for row in rows]
    assert reasons[:3] == ["a?[2Jb", "line line", "?txt"]
    assert reasons[3] == "x" * 32768 + "…"
    assert reasons[-1] == "\ufffd"


def test_keys_of_another_type_are_null(tmp_path):
    odd = record("001_allreduce", 0, "CRASH", where={"rank": "one", "index": [0.5], "signal": 2.5})
    odd |= {"cost_s": {"total": "long"}, "reason": ["x"], "sizes": ["x", {"size": 5}]}
    path = write(tmp_path / "a.jsonl", [odd])
    (row,) = table(path)
    assert {row[key] for key in ("where_rank", "where_index", "where_signal", "total_s")} == {""}
    assert row["reason"] == ""
    assert len(table(path, kind="sizes")) == 2


# ---- Parquet ----


@needs_duckdb
@pytest.mark.parametrize("kind", KINDS)
def test_parquet_says_what_csv_says(run, tmp_path, kind):
    path = tmp_path / "it's.parquet"
    answer = pkbench("export", "--parquet", path, "--rows", kind, run)
    assert answer.status == INCOMPLETE, answer.err
    rows = parquet(str(path).replace("'", "''"))
    wanted = table(run, status=INCOMPLETE, kind=kind)
    assert f"wrote {len(wanted)} rows" in answer.err
    read = {
        "VARCHAR": str,
        "BIGINT": int,
        "DOUBLE": float,
        "BOOLEAN": lambda text: text == "true",
        "BIGINT[]": json.loads,
    }
    types = columns(kind)
    for row, other in zip(rows, wanted, strict=True):
        assert list(row) == list(types)
        for name, text in other.items():
            if types[name] == "VARCHAR":
                assert (row[name] or "") == text, name
            else:
                assert row[name] == (read[types[name]](text) if text else None), name


@needs_duckdb
def test_parquet_keeps_texts_as_they_are(tmp_path):
    texts = ["=1+2", "'quoted", 'a "b"', "", "NULL", "x" * 40000]
    records = [
        record("001_allreduce", number, "CRASH", reason=text) for number, text in enumerate(texts)
    ]
    records.append(record("001_allreduce", len(texts), "CRASH"))
    out = tmp_path / "a.parquet"
    assert pkbench("export", write(tmp_path / "a.jsonl", records), "--parquet", out).status == 0
    reasons = [row["reason"] for row in parquet(out)]
    assert reasons == [*texts[:5], "x" * 32768 + "…", None]
    assert stat.S_IMODE(out.stat().st_mode) == 0o644
    (notes,) = parquet(out, "1") and [
        {bytes(row["key"]): bytes(row["value"]) for row in metadata(out)}
    ]
    assert notes == {b"pkbench_export": b"1", b"pkbench_rows": b"attempts"}


def metadata(path) -> list[dict]:
    import duckdb

    found = duckdb.sql(f"SELECT key, value FROM parquet_kv_metadata('{path}')")
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def test_a_python_without_duckdb_is_told_what_to_do(tmp_path):
    """A Python that has all that pkbench asks for, but not that."""
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\ncase $1 in *parquet.py) exec {sys.executable} -S -E "$@";; esac\n'
        f'exec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    path = write(tmp_path / "a.jsonl", attempts("001_allreduce", "c"))
    out = tmp_path / "a.parquet"
    message = refusal(
        path, "--parquet", out, status=3, env={"PKBENCH_PYTHON": str(python), "PYTHONPATH": ""}
    )
    assert f"{python} -m pip install duckdb" in message
    assert "--csv" in message
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "python"]


# ---- where it goes ----


def test_files_appear_whole_or_not_at_all(tmp_path):
    path = write(tmp_path / "a.jsonl", attempts("001_allreduce", "c"))
    bad = write(tmp_path / "bad.jsonl", [record("001_allreduce", schema=7)])
    out = tmp_path / "out.csv"
    out.write_text("old")
    assert "schema" in refusal(path, bad, "--csv", out)
    assert out.read_text() == "old"
    assert pkbench("export", path, "--csv", out).status == 0
    assert len(out.read_text().splitlines()) == 2
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "bad.jsonl", "out.csv"]


def test_nothing_is_written_over_what_is_read(tmp_path):
    path = write(tmp_path / "a.jsonl", attempts("001_allreduce", "c"))
    before = path.read_text()
    os.symlink("a.jsonl", tmp_path / "link")
    for name in ("a.jsonl", "link"):
        assert "name another one" in refusal(path, "--csv", tmp_path / name)
    assert path.read_text() == before
    folder = tmp_path / "run"
    write(folder / "results" / "a.jsonl", attempts("001_allreduce", "c"))
    (folder / "samples" / "001_allreduce").mkdir(parents=True)
    for name in ("samples/001_allreduce/0.cu", "samples/001_allreduce/0.json", "run.json"):
        (folder / name).write_text("{}")
        assert "name another one" in refusal(folder, "--csv", folder / name)
        assert (folder / name).read_text() == "{}"
    assert "no ordinary file" in refusal(path, "--csv", tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "no ordinary file" in refusal(path, "--leaderboard", tmp_path / "pipe")
    assert "cannot write beside" in refusal(path, "--csv", tmp_path / "no" / "x.csv", status=5)
    assert "cannot write" in refusal(path, "--csv", "-", status=5, preexec_fn=full_stdout)


def full_stdout():
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)


def test_options_are_checked(tmp_path):
    path = write(tmp_path / "a.jsonl", attempts("001_allreduce", "c"))
    assert "name a run" in refusal("--csv", "-")
    assert "--csv, --parquet or --leaderboard" in refusal(path)
    assert "at a time" in refusal(path, "--csv", "-", "--parquet", "x")
    assert "attempts, sizes or batches" in refusal(path, "--csv", "-", "--rows", "ranks")
    assert "--rows is for tables" in refusal(path, "--leaderboard", "-", "--rows", "sizes")
    assert "--csv -" in refusal(path, "--parquet", "-")
    assert "empty" in refusal(path, "--csv", "")
    assert "cannot find" in refusal("missing", "--csv", "-")
    assert "holds no record" in refusal(write(tmp_path / "e.jsonl", []), "--csv", "-")


def test_several_runs_go_into_one_table(tmp_path):
    paths = [
        write(tmp_path / f"{name}.jsonl", attempts("001_allreduce", "cw", run=name, world=world))
        for name, world in (("x", 2), ("y", 4))
    ]
    assert [(row["run"], row["world"]) for row in table(*paths)] == [
        ("x", "2"),
        ("x", "2"),
        ("y", "4"),
        ("y", "4"),
    ]
    again = write(tmp_path / "z.jsonl", attempts("001_allreduce", "c", run="x"))
    assert "x/001_allreduce/0/cuda/2" in refusal(*paths, again, "--csv", "-")
    mixed = write(tmp_path / "m.jsonl", [line for p in paths for line in p.read_text().split("\n")])
    assert "--pool" in refusal(mixed, "--csv", "-")
    assert len(table(mixed, "--pool", "--mix")) == 4
    assert len(table(mixed, "--run", "y")) == 2


# ---- the examples of the page ----


def pass_by_category(path) -> dict[str, float]:
    groups = score(path)["categories"]
    return {name: group["pass"]["1"]["value"] for name, group in groups.items()}


@pytest.mark.parametrize("library", ["duckdb", "pandas"])
def test_the_page_computes_what_score_computes(tmp_path, library):
    needed = ["duckdb"] if library == "duckdb" else ["duckdb", "pandas", "pyarrow"]
    for name in needed:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    records = (
        attempts("001_allreduce", "cwwwu")
        + attempts("002_allgather", "ccwww")
        + attempts("013_gemm_allreduce", "ccccw")
    )
    path = write(tmp_path / "a.jsonl", records)
    for form in ("csv", "parquet"):
        assert pkbench("export", path, f"--{form}", tmp_path / f"attempts.{form}").status == 0
    (code,) = [
        block
        for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
        if block.startswith(f"import {library}\n")
    ]
    wide = "import pandas\npandas.set_option('display.precision', 12)\n"
    code = (wide if library == "pandas" else "") + code
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=HUNG_S
    )
    assert done.returncode == 0, done.stderr
    wanted = pass_by_category(path)
    assert wanted == {"primitive": pytest.approx(0.325), "tensor": pytest.approx(0.8)}
    for category, value in wanted.items():
        found = re.findall(rf"{category}\W+([0-9.]+)\W+(\d)", done.stdout)
        assert [float(share) for share, _ in found] == [pytest.approx(value)] * 2, done.stdout


# ---- large runs ----


def test_a_table_takes_no_more_memory_for_more_rows(tmp_path):
    """30 MB of records in 24 MB of memory."""
    line = json.dumps(record("001_allreduce", 0, speedup=2.0, batch_count=1000))
    path = tmp_path / "a.jsonl"
    with path.open("w") as file:
        for number in range(100):
            file.write(line.replace('"sample": 0', f'"sample": {number}') + "\n")
    out = tmp_path / "out.csv"
    answer = pkbench("export", path, "--csv", out, "--rows", "batches", preexec_fn=within(24))
    assert answer.status == 0, answer.err
    assert sum(1 for _ in out.open()) == 1 + 100 * 3000


@pytest.mark.parametrize("name", ["with space", "-n", "ü\x1b[31m\nx", "a" * 200, "=1+1"])
def test_names_of_any_kind(tmp_path, name):
    write(tmp_path / name / "results" / "x.jsonl", attempts("001_allreduce", "c", run=name))
    answer = pkbench("export", "--csv", "-", "--", name, cwd=tmp_path)
    assert answer.status == 0, answer.err
    (row,) = csv.DictReader(io.StringIO(answer.out))
    clean = name.replace("\x1b", "?").replace("\n", " ")
    assert row["run"] == (f"'{clean}" if name[0] in "-=" else clean)
    assert "\x1b" not in answer.out + answer.err
