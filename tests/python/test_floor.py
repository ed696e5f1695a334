# SPDX-License-Identifier: Apache-2.0
"""Floors: cost models at a machine's ceilings."""

import json

import pytest

from harness.runner import floor
from harness.runner.problem import ProblemError, find, load

CEILINGS = {
    "flop_per_s": {"bf16": 1e15, "f32": 1e14},
    "hbm_bytes_per_s": 4e12,
    "sent_bytes_per_s": 4e11,
}


@pytest.fixture
def ceilings(tmp_path):
    path = tmp_path / "ceilings.json"
    path.write_text(json.dumps(CEILINGS))
    return path


def test_the_dearest_part_is_the_floor(ceilings):
    """Two ranks, M = N = 8192, K = 3584: 0.48 Tflop, 251 MB of memory and 117 MB sent (A and B)."""
    found = floor.floors(load(find("13")), 2, floor.read_ceilings(ceilings))
    assert set(found) == {"tiny", "tiny_row", "pkb", "large"}
    flop, sent = 2 * 8192 * 8192 * 3584 / 1e15, 2 * 2 * 8192 * 3584 / 4e11
    assert flop > sent
    assert found["large"] == pytest.approx(1e6 * flop)
    sent_pkb = 2 * (1024 * 512 + 512 * 1024) / 4e11
    assert found["pkb"] == pytest.approx(1e6 * sent_pkb)


def test_grids_have_floors_of_their_own(ceilings):
    found = floor.floors(load(find("55")), 2, floor.read_ceilings(ceilings))
    assert {"large cp1xtp2", "large cp2xtp1"} < set(found)
    assert found["large cp1xtp2"] != found["large cp2xtp1"]


def test_what_follows_from_data_has_no_floor(ceilings, tmp_path):
    """070 has a drawn dim: how many ids there are."""
    raw = json.loads(find("70").read_text())
    raw["cost"]["sent_bytes"] = "4 * nnz"
    path = tmp_path / find("70").name
    path.write_text(json.dumps(raw))
    assert floor.floors(load(path), 2, floor.read_ceilings(ceilings)) == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"flop_per_s": 3, "hbm_bytes_per_s": 1, "sent_bytes_per_s": 1}',
        '{"flop_per_s": {}, "hbm_bytes_per_s": 1, "sent_bytes_per_s": 1}',
        '{"flop_per_s": {"f32": 1}, "hbm_bytes_per_s": 0, "sent_bytes_per_s": 1}',
        '{"flop_per_s": {"f32": 1}, "hbm_bytes_per_s": "much", "sent_bytes_per_s": 1}',
    ],
)
def test_a_file_without_ceilings_is_named(tmp_path, text, capsys):
    path = tmp_path / "ceilings.json"
    path.write_text(text)
    with pytest.raises(ProblemError, match=r"ceilings\.json .*ceiling"):
        floor.read_ceilings(path)
    assert floor.main([str(path), "-n", "2", "13"]) == 2
    assert "ceilings.json" in capsys.readouterr().err
