# SPDX-License-Identifier: Apache-2.0
"""What was said about attempts of a run stays in its folder, where reports link to it."""

import json
from pathlib import Path

import pytest

from tests.e2e.command import pkbench
from tests.e2e.fake_tools import fake_judge, fake_nvcc
from tests.e2e.runs import records_of, results_file

QUICK = ("--device", "cpu", "--sizes", "tiny", "--no-timing")
SOURCE = 'extern "C" int pkb_run(void) { return 0; }'
MOST_BYTES = 129 << 10


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "run" / "001_allreduce").mkdir(parents=True)
    (tmp_path / "run" / "001_allreduce" / "0.cu").write_text(SOURCE)
    return tmp_path / "run"


def fakes(tmp_path: Path, mode: str) -> dict[str, str]:
    return {**fake_judge(tmp_path, mode), **fake_nvcc(tmp_path)}


def logs_of(folder: Path) -> dict[str, dict[str, str]]:
    """By judgement and name."""
    return {
        one.name: {file.name: file.read_text() for file in one.iterdir()}
        for one in (folder / "logs").iterdir()
    }


def test_logs_of_what_is_not_correct(folder, tmp_path):
    """Those of equal sources are the same; none are of the attempt that is CORRECT."""
    attempts = folder / "001_allreduce"
    (attempts / "1.cu").write_text(SOURCE + " // fine")
    (attempts / "2.cu").write_text("BROKEN\x1b[31m")
    (attempts / "3.cu").write_text("BROKEN\x1b[31m")
    answer = pkbench("eval", folder, *QUICK, env=fakes(tmp_path, "prints_much"))
    assert answer.status == 0, answer.err
    wrong, fine, broken, equal = sorted(
        records_of(results_file(folder)), key=lambda one: one["sample"]
    )
    assert [one["verdict"] for one in (wrong, fine, broken)] == [
        "WRONG_OUTPUT", "CORRECT", "COMPILE_ERROR",
    ]  # fmt: skip
    assert broken["judgement"] == equal["judgement"]
    found = logs_of(folder)
    assert set(found) == {wrong["judgement"], broken["judgement"]}
    assert set(found[wrong["judgement"]]) == {"rank0.txt", "rank1.txt"}
    for rank in range(2):
        text = found[wrong["judgement"]][f"rank{rank}.txt"]
        assert text.startswith(f"rank {rank} ?[31mred\nxxx")
        assert text.endswith("xxxend\n")
        assert "\n---- 917524 bytes left out ----\n" in text
        assert len(text) < MOST_BYTES
    (log,) = found[broken["judgement"]].items()
    assert log[0] == "compile.txt"
    assert "error: this is broken" in log[1]

    page = tmp_path / "report.html"
    assert pkbench("report", folder, "-o", page).status in (0, 6)
    text = page.read_text()
    assert f"logs/{broken['judgement']}/compile.txt" in text
    assert f"logs/{wrong['judgement']}/rank1.txt" in text


def test_failures_of_ours_leave_what_the_ranks_said_until_there_is_a_verdict(folder, tmp_path):
    env = fakes(tmp_path, "dies_at_once")
    assert pkbench("eval", folder, *QUICK, env=env).status == 6
    (record,) = records_of(results_file(folder))
    (said,) = logs_of(folder)[record["judgement"]].items()
    assert said[0] == "ranks.txt"
    assert "no such library" in said[1]
    answer = pkbench("eval", folder, *QUICK, env={**env, "FAKE_JUDGE": "correct"})
    assert answer.status == 0, answer.err
    assert [one["judgement"] for one in records_of(results_file(folder))][-1] == record["judgement"]
    assert logs_of(folder) == {}


@pytest.mark.parametrize("options", [("--no-save",), ("-o", "beside.jsonl")])
def test_no_logs_where_no_records_are_stored(folder, tmp_path, options):
    (folder / "001_allreduce" / "0.cu").write_text("BROKEN")
    env = fakes(tmp_path, "correct")
    assert pkbench("eval", folder, *QUICK, *options, env=env, cwd=tmp_path).status == 0
    assert sorted(path.name for path in folder.iterdir()) == ["001_allreduce"]


def test_nothing_is_written_through_a_link_that_leads_out(folder, tmp_path):
    """Of the folder of logs, and of the one that a judgement would have in it."""
    (folder / "001_allreduce" / "0.cu").write_text("BROKEN")
    env, outside = fakes(tmp_path, "correct"), tmp_path / "outside"
    outside.mkdir()
    (folder / "logs").symlink_to(outside)
    answer = pkbench("eval", folder, *QUICK, env=env)
    assert answer.status == 2
    assert "logs is a symbolic link that leads out of the folder" in answer.err
    (folder / "logs").unlink()
    (folder / "logs").mkdir()
    shown = pkbench("eval", folder, *QUICK, "--no-save", "--json", env=env)
    (folder / "logs" / json.loads(shown.out)["judgement"]).symlink_to(outside)
    answer = pkbench("eval", folder, *QUICK, env=env)
    assert answer.status == 2
    assert "remove the link" in answer.err
    assert list(outside.iterdir()) == []


def test_what_lies_in_the_place_of_logs_is_told(folder, tmp_path):
    """Before anything is judged, or as records that cannot be stored are."""
    (folder / "001_allreduce" / "0.cu").write_text("BROKEN")
    env = fakes(tmp_path, "correct")
    shown = pkbench("eval", folder, *QUICK, "--no-save", "--json", env=env)
    (folder / "logs").write_text("mine")
    answer = pkbench("eval", folder, *QUICK, env=env)
    assert answer.status == 2
    assert "logs is no directory" in answer.err
    assert "COMPILE_ERROR" not in answer.err
    assert (folder / "logs").read_text() == "mine"
    (folder / "logs").unlink()
    (folder / "logs").mkdir()
    (folder / "logs" / json.loads(shown.out)["judgement"]).write_text("mine")
    answer = pkbench("eval", folder, *QUICK, env=env)
    assert answer.status == 5
    assert "is not a directory" in answer.err
