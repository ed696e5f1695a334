# SPDX-License-Identifier: Apache-2.0
"""Checks problem files completely: `python -m harness.runner.validate [PROBLEM...]`.

First the JSON Schema, then what it cannot say: that names exist and fit each other, that every
expression has a value, that a reference is there. One line a fault; status 1 if there is one.
"""

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from harness.runner import expr
from harness.runner.problem import ROOT, Argument, Problem, ProblemError, find, load
from harness.runner.resolve import plan

WORLDS = (1, 2, 3, 4, 5, 6, 7, 8)
FUNCTIONS = {"make_inputs": 1, "reference": 1, "oracle": 2}
C_WORDS = frozenset(
    "alignas auto bool break case char class const continue default delete do double else enum "
    "export extern false float for friend goto if inline int long namespace new operator private "
    "protected public register return short signed sizeof static struct switch template this "
    "throw true typedef typename union unsigned using virtual void volatile while".split()
)


def faults(path: Path, schema: dict) -> Iterator[str]:
    """What is wrong with a problem file, one sentence each; nothing if it is right."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        yield f"cannot be read: {error}"
        return
    broken = list(_schema_faults(raw, schema))
    yield from broken
    if broken:
        return
    try:
        problem = load(path)
        yield from _file_faults(problem)
        yield from _name_faults(problem)
        yield from _expression_faults(problem)
    except ProblemError as error:
        yield str(error)


def _schema_faults(raw: object, schema: dict) -> Iterator[str]:
    import jsonschema

    validator = jsonschema.Draft202012Validator(schema)
    for error in validator.iter_errors(raw):
        yield f"{error.json_path}: {jsonschema.exceptions.best_match([error]).message[:300]}"


def _file_faults(problem: Problem) -> Iterator[str]:
    if problem.path.stem != problem.name or not problem.name.startswith(f"{problem.id:03d}_"):
        yield f"file '{problem.path.name}', id {problem.id} and name '{problem.name}' do not agree"
    if not problem.reference_path.exists():
        yield f"there is no {problem.reference_path.name} in references/"
        return
    tree = ast.parse(problem.reference_path.read_text(encoding="utf-8"))
    found = {n.name: len(n.args.args) for n in tree.body if isinstance(n, ast.FunctionDef)}
    for name, least in FUNCTIONS.items():
        if found.get(name, 0) < least:
            yield f"{problem.reference_path.name} has no function {name} of {least} parameters"


def _name_faults(problem: Problem) -> Iterator[str]:
    arguments = {argument.name: argument for argument in problem.arguments}
    outputs = {argument.name for argument in problem.outputs}
    for name in [*arguments, *problem.sizes[0].values, *problem.dims, *problem.axes]:
        if name in C_WORDS or name in expr.FUNCTIONS:
            yield f"'{name}' has a meaning in C++ or in expressions"
    if not outputs:
        yield "there is no output"
    names = [size.name for size in problem.sizes]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"size '{name}' is given twice"
    yield from _argument_faults(problem, arguments)
    yield from _bound_faults(problem, outputs)


def _argument_faults(problem: Problem, arguments: dict[str, Argument]) -> Iterator[str]:
    for dim, name in problem.deciders.items():
        if name not in arguments or not arguments[name].is_input:
            yield f"dim '{dim}': by '{name}' is no input"
    for argument in problem.arguments:
        counter = arguments.get(argument.count)
        if argument.count and (counter is None or not counter.is_output or counter.dtype != "i64"):
            yield f"'{argument.name}': count '{argument.count}' is not an i64 output"
        offsets = arguments.get(argument.offsets)
        if argument.offsets and (
            offsets is None or (offsets.role, offsets.dtype) != ("host", "i64")
        ):
            yield f"'{argument.name}': offsets '{argument.offsets}' is not an i64 host argument"
        if argument.shared not in ("", "all", *problem.axes):
            yield f"'{argument.name}': shared '{argument.shared}' is neither all nor a grid axis"
        if argument.shared and not argument.is_input:
            yield f"'{argument.name}': only what make_inputs draws can be shared"
        for family in sorted(set(argument.check) - {"default", *problem.families}):
            yield f"'{argument.name}' has a check for '{family}', which is no input family"
        for name in sorted(expr.names(argument.present) & _varying(problem)):
            yield f"'{argument.name}': whether it is present cannot depend on the drawn '{name}'"


def _varying(problem: Problem) -> set[str]:
    """Drawn dims and those that follow from them."""
    found = set(problem.drawn)
    for name, text in problem.dims.items():
        if expr.names(text) & found:
            found.add(name)
    return found


def _bound_faults(problem: Problem, outputs: set[str]) -> Iterator[str]:
    bounded = set(problem.tolerance.get("cpu", {}))
    floats = {a.name for a in problem.outputs if "float" in a.check.values()}
    for name in sorted(floats - bounded):
        yield f"'{name}' is compared as float but has no tolerance"
    inputs = {a.name for a in problem.arguments if a.is_input or a.role == "scalar"}
    for name in sorted(set().union(*problem.tolerance.values()) - floats):
        yield f"there is a tolerance for '{name}', which is not compared as float"
    for entry in problem.insensitive:
        for name in sorted({*entry.outputs} - outputs):
            yield f"insensitive: '{name}' is no output"
        for name in sorted({*entry.arguments} - inputs):
            yield f"insensitive: '{name}' is no input"


def _expression_faults(problem: Problem) -> Iterator[str]:
    """Resolves every size on every world; a size must be possible on one of them."""
    for size in problem.sizes:
        refusals = []
        for world in WORLDS:
            try:
                plan(problem, world, size.name)
            except ProblemError as error:
                refusals.append(str(error))
            except expr.ExprError as error:
                yield f"size '{size.name}', P = {world}: {error}"
                break
        if len(refusals) == len(WORLDS):
            yield f"size '{size.name}' is possible on no world: {refusals[0]}"
    scope = {name: 1 for name in (*problem.sizes[0].values, *problem.dims, "P", "rank", "src")}
    scope |= {name: 1 for axis in problem.axes for name in (axis, f"{axis}_rank")}
    for entry in problem.insensitive:
        try:
            expr.evaluate(entry.when, scope, lambda name: [1])
        except expr.ExprError as error:
            yield f"insensitive: {error}"


def main(argv: list[str]) -> int:
    schema = json.loads((ROOT / "problems" / "schema.json").read_text(encoding="utf-8"))
    try:
        paths = [find(text) for text in argv] or sorted((ROOT / "problems").glob("[0-9]*.json"))
    except ProblemError as error:
        print(error, file=sys.stderr)
        return 2
    count = 0
    for path in paths:
        for fault in faults(path, schema):
            print(f"{path.name}: {fault}")
            count += 1
    print(f"problems: {len(paths)}, faults: {count}", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
