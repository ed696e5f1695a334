# SPDX-License-Identifier: Apache-2.0
"""What the steps share: a device, a folder for records, time that is left, attempts to build, and
judges that live on from one attempt to the next.
"""

import json
import os
import statistics
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.command import PKBENCH, ROOT
from tests.e2e.judges import Judges

COPIES = ROOT / "tests" / "gpu" / "problems" / "900_copies.json"
COPIES_ATTEMPT = ROOT / "tests" / "gpu" / "attempts" / "900_copies.cu"
OPTIONS = ["-std=c++17", "-O3", "-lineinfo", "-cudart", "none", "-cudadevrt", "none", "-shared"]


@dataclass(frozen=True)
class Build:
    """One attempt to compile: `defines` and `include` are what it needs beside the harness."""

    name: str
    source: Path
    defines: tuple[str, ...] = ()
    include: Path | None = None


@dataclass
class Bench:
    """Where a step runs, and until when it may begin something new."""

    device: str
    out: Path
    budget_s: float
    step: str = "step"
    begin: float = field(default_factory=time.monotonic)

    @property
    def scratch(self) -> Path:
        """A folder of this step alone, for what is no record."""
        folder = self.out / "scratch" / self.step
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def is_gpu(self) -> bool:
        return self.device == "cuda"

    def left_s(self) -> float:
        return self.budget_s - (time.monotonic() - self.begin)

    def store(self, name: str, records: list[dict]) -> None:
        """Appends to NAME.jsonl in the folder of records."""
        with open(self.out / f"{name}.jsonl", "a", encoding="utf-8") as file:
            for record in records:
                file.write(json.dumps(record) + "\n")

    def build_all(self, builds: list[Build]) -> dict[str, Path]:
        """Compiles side by side; name -> shared object."""
        folder = self.scratch / "built"
        folder.mkdir(exist_ok=True)
        workers = max(1, min(16, (os.cpu_count() or 2) - 1))
        with ThreadPoolExecutor(workers) as pool:
            paths = list(pool.map(lambda build: self._build(build, folder), builds))
        return {build.name: path for build, path in zip(builds, paths, strict=True)}

    def _build(self, build: Build, folder: Path) -> Path:
        target = folder / f"{build.name}.so"
        includes = [f"-I{ROOT}/harness/include", *([f"-I{build.include}"] if build.include else [])]
        defines = [f"-D{define}" for define in build.defines]
        if self.is_gpu:
            tail = ["-arch=native", "-Xcompiler", "-fPIC", "-Xlinker", str(runtime_library())]
            command = [find("nvcc"), *OPTIONS, *includes, *defines, *tail, str(build.source)]
        else:  # host code alone: what needs a kernel is left out
            command = ["g++", "-std=c++17", "-O2", "-shared", "-fPIC", "-x", "c++", *defines]
            command += [*includes, f"-I{find('--include')}", str(build.source), "-x", "none"]
            command += [str(ROOT / "build" / "lib" / "libcudart.so.13"), "-lpthread"]
        done = subprocess.run([*command, "-o", str(target)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{build.name} does not compile: {done.stderr[-2000:]}")
        return target

    def copies(self, *kinds: str, **defines: int) -> list[Build]:
        """Attempts at 900_copies, one of each kind."""
        extra = tuple(f"{name}={value}" for name, value in defines.items())
        return [Build(kind.lower(), COPIES_ATTEMPT, (f"DO={kind}", *extra)) for kind in kinds]

    def judges(self, problem: str, sizes: str = "all") -> Judges:
        """An open world of two ranks."""
        device = (self.device, "--cudart", str(runtime_library())) if self.is_gpu else ("cpu",)
        judges = Judges(problem, 2, timeout_s=20, sizes=sizes, device=device)
        try:
            judges.open()
        except BaseException:
            judges.__exit__()
            raise
        return judges

    def problem_header(self, example: Path) -> Path:
        """A folder with the problem.h that belongs to an example: an attempt that does not compile
        costs least."""
        folder = self.scratch / "headers" / example.stem
        broken = self.scratch / f"{example.stem[:3]}_broken.cu"
        if not folder.exists():
            folder.parent.mkdir(exist_ok=True)
            broken.write_text("no code\n")
            command = [PKBENCH, "eval", broken, "--device", self.device, "--keep", folder]
            subprocess.run([*command, "--sizes", "tiny"], capture_output=True, timeout=100)
            broken.unlink()
        assert (folder / "problem.h").exists(), f"no problem.h for {example.stem}"
        return folder


def find(what: str) -> str:
    """nvcc, or its headers' folder."""
    words = [] if what == "nvcc" else [what]
    script = ROOT / "tools" / "find_nvcc.sh"
    return subprocess.check_output([script, *words], text=True).strip()


def runtime_library() -> Path:
    """libcudart.so.13 of the toolkit in use."""
    above = Path(find("--include")).parent
    for folder in ("lib64", "lib", "targets/x86_64-linux/lib"):
        if (above / folder / "libcudart.so.13").exists():
            return above / folder / "libcudart.so.13"
    raise FileNotFoundError(f"no libcudart.so.13 below {above}")


def examples() -> list[Path]:
    return sorted((ROOT / "examples").glob("*.cu"))


# ---- numbers and tables ----


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def spread(values: list[float]) -> str:
    """min, median and max, and what part of the median the whole range is."""
    middle = statistics.median(values)
    width = (max(values) - min(values)) / middle if middle else 0
    return f"{min(values):.4g} | {middle:.4g} | {max(values):.4g} | {100 * width:.2f} %"


def table(head: str, rows: list[str]) -> str:
    columns = head.count("|") + 1
    lines = [f"| {head} |", "|" + "---|" * columns]
    return "\n".join(lines + [f"| {row} |" for row in rows]) + "\n"


def slim(event: dict, keeps_batches: bool = False) -> dict:
    """A judgement without what nobody reads again; of batches µs and numbers of calls at most."""
    kept = {key: event[key] for key in ("verdict", "reason", "where", "cost_s") if key in event}
    sizes = []
    for size in event.get("sizes", []):
        batches = size.get("batches", [])
        size = {key: value for key, value in size.items() if key != "batches"}
        size["pairs"] = len(batches) // 2
        if keeps_batches:
            for side, key in (("attempt", "batches_us"), ("eager", "eager_batches_us")):
                mine = [batch for batch in batches if batch["side"] == side]
                size[key] = [round(batch["slowest_ns"] / 1e3, 1) for batch in mine]
                size[f"{side}_calls"] = mine[0]["n"] if mine else 0
        sizes.append(size)
    return {**kept, "sizes": sizes}
