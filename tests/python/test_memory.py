# SPDX-License-Identifier: Apache-2.0
"""Regions as tensors, and the page's layout against the C compiler's."""

import ctypes
import shutil
import subprocess

import pytest
import torch

from harness.runner import page
from harness.runner.memory import TORCH_DTYPES, MemoryFault, Region, oracle_dtype
from harness.runner.problem import ROOT
from tests.python.judge import Memory


@pytest.fixture
def memory():
    return Memory(8192)


@pytest.mark.parametrize("name", TORCH_DTYPES)
def test_views_are_the_memory_itself(memory, name):
    dtype = TORCH_DTYPES[name]
    region = Region(memory.fd, memory.size_bytes)
    memory.bytes.copy_(torch.arange(8192) % 2)
    view = region.view(512, [3, 5], dtype)
    assert (view.dtype, list(view.shape)) == (dtype, [3, 5])
    theirs = memory.view(512, [3, 5], dtype)
    assert torch.equal(view.view(torch.uint8), theirs.view(torch.uint8))
    view.copy_(torch.ones(3, 5))
    assert torch.equal(theirs.to(torch.complex64), torch.ones(3, 5, dtype=torch.complex64))
    region.close()


def test_views_may_be_empty_or_single(memory):
    region = Region(memory.fd, memory.size_bytes)
    assert list(region.view(8192, [0, 7], torch.bfloat16).shape) == [0, 7]
    region.view(256, [], torch.int64).fill_(5)
    assert memory.view(256, [1], torch.int64).item() == 5


@pytest.mark.parametrize(("offset", "shape"), [(8192, [1]), (8184, [2]), (-8, [1]), (4, [1])])
def test_views_stay_inside(memory, offset, shape):
    region = Region(memory.fd, memory.size_bytes)
    with pytest.raises(MemoryFault, match="do not fit into 8192 bytes"):
        region.view(offset, shape, torch.int64)


def test_bad_descriptors_are_named(memory):
    with pytest.raises(MemoryFault, match="cannot map 8192 bytes of descriptor 999: Bad file"):
        Region(999, 8192)
    with pytest.raises(MemoryFault, match="cannot map 16384 bytes"):
        Region(memory.fd, 16384)
    with pytest.raises(MemoryFault, match="device 'tpu'"):
        Region(memory.fd, 8192, "tpu")


def test_oracle_dtypes():
    assert oracle_dtype("bf16") == torch.float64
    assert oracle_dtype("c64") == torch.complex128
    assert oracle_dtype("e4m3") == torch.float8_e4m3fn
    assert oracle_dtype("i32") == torch.int32


def fields(structure: type, prefix: str) -> dict[str, int]:
    """Offset of each field, and under "sizeof ..." its size."""
    found = {}
    for name, *_ in structure._fields_:
        found[f"offsetof({prefix}, {name})"] = getattr(structure, name).offset
        found[f"sizeof((({prefix} *)0)->{name})"] = getattr(structure, name).size
    return found


def test_page_is_that_of_c(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    ours = fields(page.Page, "pkb_page") | fields(page.Place, "pkb_place")
    constants = {
        "PKB_COMMAND_CLAIM": page.COMMAND_CLAIM,
        "PKB_COMMAND_RUN": page.COMMAND_RUN,
        "PKB_COMMAND_EXIT": page.COMMAND_EXIT,
        "PKB_ANSWER_OK": page.ANSWER_OK,
        "PKB_ANSWER_EXCEPTION": page.ANSWER_EXCEPTION,
        "PKB_MAX_SLOTS": page.MAX_SLOTS,
        "sizeof(pkb_page)": ctypes.sizeof(page.Page),
        "sizeof(pkb_place)": ctypes.sizeof(page.Place),
    }
    lines = [f'P("{name}", {name})' for name in ours | constants]
    source = tmp_path / "offsets.c"
    source.write_text(
        '#include <stddef.h>\n#include <stdio.h>\n#include "harness/memory/page.h"\n'
        '#define P(name, value) printf("%s=%zu\\n", name, (size_t)(value));\n'
        f"int main(void) {{ {' '.join(lines)} return 0; }}\n"
    )
    program = tmp_path / "offsets"
    subprocess.run([compiler, f"-I{ROOT}", str(source), "-o", str(program)], check=True, timeout=60)
    printed = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    theirs = dict(line.rsplit("=", 1) for line in printed.splitlines())
    assert {name: int(value) for name, value in theirs.items()} == ours | constants
    assert len(ours) > 40
