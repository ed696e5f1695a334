# SPDX-License-Identifier: Apache-2.0
"""A problem file as typed records. Checks what the code relies on, without torch or jsonschema;
`python -m harness.runner.validate` checks everything else against the schema.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

DTYPES = ("bf16", "f16", "f32", "f64", "i8", "u8", "i32", "i64", "bool", "e4m3", "e5m2", "c64")
ROLES = ("in", "out", "inout", "scalar", "host")
CHECKS = ("none", "exact", "float", "quantized")
CLASSES = ("tiny", "pkb", "large")
METRICS = ("norm", "block", "max")


class ProblemError(ValueError):
    """A problem file, or what was asked of it, is wrong; the message is one sentence."""


@dataclass(frozen=True)
class Argument:
    """One argument: expressions are still texts, see resolve.py."""

    name: str
    role: str
    dtype: str
    shape: tuple[str | int, ...] = ()
    present: str | int = 1
    count: str = ""
    offsets: str = ""
    copies_out: bool = False
    drawn: bool = False
    shared: str = ""  # "all" or an axis: equal by definition on all ranks, or on those of an axis
    check: dict[str, str] = field(default_factory=dict)

    @property
    def is_output(self) -> bool:
        return self.role in ("out", "inout")

    @property
    def is_input(self) -> bool:
        """A tensor that make_inputs fills, host arrays included."""
        return self.role in ("in", "inout", "host")

    @property
    def is_fixed(self) -> bool:
        """A host array that is no data: the same in every draw, for set-up may see it."""
        return self.role == "host" and not self.drawn

    def check_in(self, family: str) -> str:
        """How this output is compared in an input family."""
        return self.check.get(family, self.check["default"])


@dataclass(frozen=True)
class Size:
    name: str
    size_class: str
    values: dict[str, str | int]


@dataclass(frozen=True)
class Insensitive:
    """Outputs that do not depend on arguments (none: any) of rank `src` where `when` holds."""

    outputs: tuple[str, ...]
    arguments: tuple[str, ...]
    when: str | int

    def covers(self, output: str, argument: str) -> bool:
        return output in self.outputs and (not self.arguments or argument in self.arguments)


@dataclass(frozen=True)
class Problem:
    path: Path
    id: int
    name: str
    axes: tuple[str, ...]
    require: tuple[str, ...]
    deterministic: bool
    dims: dict[str, str | int]
    drawn: frozenset[str]  # dims whose value is data; `dims` holds their maximum
    deciders: dict[str, str]  # drawn dim: the argument whose contents decide it
    sizes: tuple[Size, ...]
    arguments: tuple[Argument, ...]
    insensitive: tuple[Insensitive, ...]
    families: tuple[str, ...]
    tolerance: dict
    cost: dict[str, str | int]

    @property
    def outputs(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if argument.is_output)

    def argument(self, name: str) -> Argument:
        for argument in self.arguments:
            if argument.name == name:
                return argument
        raise ProblemError(f"{self.name} has no argument '{name}'")

    def size(self, name: str) -> Size:
        for size in self.sizes:
            if size.name == name:
                return size
        known = ", ".join(size.name for size in self.sizes)
        raise ProblemError(f"{self.name} has no size '{name}'; it has {known}")

    def tolerance_of(self, output: str, device: str) -> dict[str, float]:
        """The calibrated numbers for a device; those of the CPU where it has none of its own."""
        by_output = self.tolerance.get(device) or self.tolerance.get("cpu", {})
        numbers = by_output.get(output, {})
        return {metric: numbers[metric] for metric in METRICS if metric in numbers}

    @property
    def reference_path(self) -> Path:
        return self.path.parent.parent / "references" / f"{self.name}.py"


def find(text: str, root: Path = ROOT) -> Path:
    """The file that a user means: a path, a name, or a number such as 13 or 013."""
    if text.endswith(".json"):
        return Path(text).resolve()
    digits = text.split("_")[0]
    if digits.isdigit():
        found = sorted((root / "problems").glob(f"{int(digits):03d}_*.json"))
        if len(found) == 1:
            return found[0]
    raise ProblemError(f"no problem '{text}' in {root / 'problems'}")


def load(path: Path | str) -> Problem:
    """Reads a problem file. ProblemError names the file and what is wrong in it."""
    path = Path(path).resolve()
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProblemError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise ProblemError(f"{path.name} is not JSON: {error}") from None
    try:
        return from_json(raw, path)
    except (KeyError, TypeError, AttributeError) as error:
        raise ProblemError(f"{path.name} lacks or misuses a key: {error}") from None


def from_json(raw: dict, path: Path) -> Problem:
    """The typed form of a parsed problem file."""
    if raw["schema"] != 1:
        raise ProblemError(f"{path.name}: schema {raw['schema']!r} is not 1")
    dims = {name: value["max"] if isinstance(value, dict) else value
            for name, value in raw.get("dims", {}).items()}  # fmt: skip
    drawn = {n: v for n, v in raw.get("dims", {}).items() if isinstance(v, dict)}
    problem = Problem(
        path=path,
        id=raw["id"],
        name=raw["name"],
        axes=tuple(raw.get("grid", [])),
        require=tuple(raw.get("require", [])),
        deterministic=raw["deterministic"],
        dims=dims,
        drawn=frozenset(drawn),
        deciders={name: value["by"] for name, value in drawn.items() if "by" in value},
        sizes=tuple(Size(s["name"], s["class"], dict(s["values"])) for s in raw["sizes"]),
        arguments=tuple(_argument(a, path.name) for a in raw["arguments"]),
        insensitive=tuple(_insensitive(entry) for entry in raw.get("insensitive", [])),
        families=tuple(raw["families"]),
        tolerance=raw.get("tolerance", {}),
        cost=dict(raw["cost"]),
    )
    _check_names(problem)
    return problem


def _insensitive(raw: dict) -> Insensitive:
    def names(value: str | list[str]) -> tuple[str, ...]:
        return (value,) if isinstance(value, str) else tuple(value)

    return Insensitive(names(raw["output"]), names(raw.get("argument", [])), raw["when"])


def _argument(raw: dict, file: str) -> Argument:
    name, role, dtype = raw["name"], raw["role"], raw["dtype"]
    if role not in ROLES or dtype not in DTYPES:
        raise ProblemError(f"{file}: argument '{name}' has an unknown role or dtype")
    check = raw.get("check", {})
    if isinstance(check, str):
        check = {"default": check}
    if role in ("out", "inout") and ("default" not in check or set(check.values()) - set(CHECKS)):
        raise ProblemError(f"{file}: output '{name}' needs a check out of {', '.join(CHECKS)}")
    return Argument(
        name=name,
        role=role,
        dtype=dtype,
        shape=tuple(raw["shape"]) if role != "scalar" else (),
        present=raw.get("present", 1),
        count=raw.get("count", ""),
        offsets=raw.get("offsets", ""),
        copies_out=raw.get("copies_out", False),
        drawn=raw.get("drawn", False),
        shared=raw.get("shared", ""),
        check=check,
    )


def _check_names(problem: Problem) -> None:
    """Sizes must give the same dims, and no name may mean two things."""
    first = list(problem.sizes[0].values) if problem.sizes else []
    for size in problem.sizes:
        if list(size.values) != first:
            raise ProblemError(f"{problem.name}: size '{size.name}' does not give {first}")
    axes = [name for axis in problem.axes for name in (axis, f"{axis}_rank")]
    names = [*first, *problem.dims, *(a.name for a in problem.arguments), *axes, "P", "rank"]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ProblemError(f"{problem.name}: the name '{twice[0]}' is given twice")
