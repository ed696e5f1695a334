# SPDX-License-Identifier: Apache-2.0
"""Broken variants of an example, made by rule: the example itself stays as it is, under another
name, and a pkb_run of the variant's own is put around it. So each variant's verdict is known.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.command import ROOT

BEGIN = """#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

"""
HONEST = "#define pkb_run honest_run\n"
RUN = """
#undef pkb_run
extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
"""
# A value that differs from the old one by more than any tolerance, whatever the old one was.
CHANGE = """
template <typename T> __device__ T changed(T old) { return old * -3 + 7; }
template <> __device__ __nv_bfloat16 changed(__nv_bfloat16 old)
{
    return __float2bfloat16(__bfloat162float(old) * -3 + 7);
}
template <typename T> __global__ void change(T *element) { *element = changed(*element); }
"""


@dataclass(frozen=True)
class Variant:
    kind: str
    text: str
    verdict: str  # regular expressions, as in the zoo
    reason: str


def problem_of(example: Path) -> dict:
    (path,) = (ROOT / "problems").glob(f"{example.stem[:3]}_*.json")
    return json.loads(path.read_text())


def count_of(argument: dict) -> str:
    """C for the number of elements; shapes are expressions in the fields of pkb_args."""

    def field(match: re.Match) -> str:
        return "pkb_world_size(world)" if match[0] == "P" else f"args->{match[0]}"

    axes = [re.sub(r"[A-Za-z_]\w*", field, str(axis)) for axis in argument["shape"]]
    return " * ".join(f"(int64_t)({axis})" for axis in axes).replace("//", "/") or "(int64_t)1"


def around(example: str, body: str, helpers: str = CHANGE) -> str:
    """The example, then a pkb_run with this body."""
    return f"{BEGIN}{HONEST}{example}{helpers}{RUN}{body}}}\n"


def touching(example: str, argument: dict, index: str, condition: str) -> str:
    """Right, and then one element of an argument is changed."""
    name = argument["name"]
    present = f"pkb_is_present(world, args->{name}, pkb_rank(world))"
    return around(
        example,
        f"    const int code = honest_run(world, args, state, stream);\n"
        f"    const int64_t count = {count_of(argument)};\n"
        f"    if (code == 0 && {condition} && {present})\n"
        f"        change<<<1, 1, 0, stream>>>(({element(argument)} *)args->{name} + ({index}));\n"
        f"    return code != 0 ? code : cudaGetLastError();\n",
    )


def element(argument: dict) -> str:
    types = {"bf16": "__nv_bfloat16", "f32": "float", "f64": "double"}
    return types.get(argument["dtype"]) or {"i32": "int32_t", "i64": "int64_t"}[argument["dtype"]]


def variants(example: Path) -> list[Variant]:
    """In a fixed order; the last two kinds cost a compilation and no judging."""
    text = example.read_text()
    arguments = problem_of(example)["arguments"]
    out = next(one for one in arguments if one["role"] == "out" and "count" not in one)
    given = next(one for one in arguments if one["role"] == "in")
    y, x = re.escape(out["name"]), re.escape(given["name"])
    wrong, last = "WRONG_OUTPUT", "pkb_rank(world) == pkb_world_size(world) - 1"
    return [
        Variant(
            "last_element",
            touching(text, out, "count - 1", f"count > 0 && {last}"),
            wrong,
            rf"rank 1.*\b{y}\b",
        ),
        Variant(
            "past_the_end",
            touching(text, out, "count", "count >= 0"),
            "OUT_OF_BOUNDS",
            rf"rank \d.*\b{y}\b",
        ),
        Variant(
            "changes_input",
            touching(text, given, "count - 1", "count > 0"),
            "INPUT_MUTATED",
            rf"rank \d.*\b{x}\b",
        ),
        Variant(
            "own_memory",  # what it should take from its peers, it takes from itself
            f"{BEGIN}#define pkb_peer(peers, pointer, rank) (pointer)\n{text}",
            "WRONG_OUTPUT|OUT_OF_BOUNDS|CRASH",  # a rank that waits for what never comes gives up
            r"rank \d",
        ),
        Variant(
            "returns_at_once",
            around(text, "    return 0;\n", helpers=""),
            wrong,
            r"rank \d.*output",
        ),
        Variant(
            "returns_3",
            around(text, "    return honest_run(world, args, state, stream) + 3;\n", helpers=""),
            "CRASH",
            r"rank \d.*pkb_run returned 3",
        ),
        Variant("no_entry", HONEST + text, "ABI_ERROR", "pkb_run"),
        Variant(
            "does_not_compile", f"{text}\nint half = ;\n", "COMPILE_ERROR", r"does_not_compile\.cu"
        ),
    ]
