# SPDX-License-Identifier: Apache-2.0
"""Two hundred attempts with the verdicts that they must get: examples, their broken variants, the
zoo and junk; and files and names beside them that are no attempts.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.command import ROOT
from tests.e2e.test_zoo import ZOO, demands
from tests.soak.variants import variants

EXAMPLES = sorted((ROOT / "examples").glob("*.cu"))
FIRST = "001_allreduce"


@dataclass(frozen=True)
class Attempt:
    """`verdict` and `reason` are regular expressions."""

    problem: str
    name: str
    content: bytes
    verdict: str
    reason: str

    @property
    def path(self) -> str:
        return f"{self.problem}/{self.name}"


def full_names() -> dict[str, str]:
    return {example.stem[:3]: example.stem for example in EXAMPLES}


def honest() -> list[Attempt]:
    return [Attempt(one.stem, one.name, one.read_bytes(), "CORRECT", "") for one in EXAMPLES]


def broken() -> list[Attempt]:
    found = []
    for number, example in enumerate(EXAMPLES):
        *judged, no_entry, does_not_compile = variants(example)
        for one in (*judged, no_entry if number % 2 else does_not_compile):
            name = f"variant_{one.kind}.cu"
            found.append(Attempt(example.stem, name, one.text.encode(), one.verdict, one.reason))
    return found


def zoo() -> list[Attempt]:
    """Under one time limit for all: a reason may name another number of seconds."""
    found = []
    for path in ZOO:
        demand = demands(path)
        reason = re.sub(r"\d+\\?\.?\d* s\b", r"[\\d.]+ s", demand["reason"])
        problem = full_names()[path.stem[:3]]
        found.append(Attempt(problem, path.name, path.read_bytes(), demand["verdict"], reason))
    return found


def junk() -> list[Attempt]:
    """What models send instead of an answer; the first has to do."""
    prose = (
        "I'm sorry, but I cannot write this kernel. Here is an outline:\n\n1. Exchange\n2. Add\n"
    )
    code = EXAMPLES[0].read_text()
    includes = '#include "junk_includes_itself.cu"\n' + code
    signature = code.replace("const pkb_args *args, void *state, cudaStream_t stream", "int M")
    nested = "int a = " + "(" * 20000 + "1" + ")" * 20000 + ";\n"
    told = [
        ("blank", " \n\t\n\ufeff", "NO_CODE", "holds no code"),
        ("prose", prose, "COMPILE_ERROR", "junk_prose"),
        ("signature", signature, "COMPILE_ERROR", "args"),
        ("includes_shadow", '#include "/etc/shadow"\n' + code, "COMPILE_ERROR", "No such file"),
        ("includes_itself", includes, "COMPILE_ERROR", "includ"),
        ("includes_nothing", '#include "cutlass/none.h"\n' + code, "COMPILE_ERROR", "cutlass"),
        ("nested", nested, "ABI_ERROR", "pkb_run"),
        ("half", code[: len(code) // 2], "COMPILE_ERROR", ""),
        ("latin", code + "\xe9\n", "COMPILE_ERROR", "junk_latin"),
    ]
    return [
        Attempt(FIRST, f"junk_{kind}.cu", text.encode("latin-1" if kind == "latin" else "utf-8"),
                verdict, reason)
        for kind, text, verdict, reason in told
    ]  # fmt: skip


def attempts() -> list[Attempt]:
    """All sources differ, so each is judged."""
    found = [*honest(), *junk(), *broken(), *zoo()]
    assert len({one.path for one in found}) == len({one.content for one in found}) == len(found)
    return found


# ---- what lies beside them ----

UNREADABLE = {
    f"{FIRST}/noise_binary.cu": os.urandom(50_000) + b"\0",
    f"{FIRST}/noise_large.cu": b"// " + b"x" * (5 << 20) + b"\n",
}
NAMES = {  # without an attempt's name, or none at all
    "README.md": b"# notes\n",
    "999_none.cu": b"int main;\n",
    "0131_four.cu": b"int main;\n",
    "notes.cu": b"int main;\n",
    ".hidden.cu": b"int main;\n",
    "013_gemm_allreduce/plan.txt": b"step one\n",
    "a \x1b[31mred\x1b[0m name.cu": b"int main;\n",
    "-n.cu": b"int main;\n",
    "samples/cache/x.cu": b"int main;\n",
}


def write(folder: Path, chosen: list[Attempt], *, with_noise: bool) -> None:
    files = {one.path: one.content for one in chosen}
    if with_noise:
        files |= UNREADABLE | NAMES
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
