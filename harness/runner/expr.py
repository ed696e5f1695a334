# SPDX-License-Identifier: Apache-2.0
"""Expressions of problem files: integer arithmetic over named dims, and nothing else.

A text is parsed to Python's syntax tree once; every node that is not on the list below is an
error that names it. Values are integers (truth is 1 or 0) and bounded, so no text can hang us.
"""

import ast
import functools
from collections.abc import Callable, Iterator, Mapping

MAX_CHARACTERS = 400
MAX_NODES = 200
MAX_DEPTH = 40
MAX_VALUE = 2**62

RankValues = Callable[[str], list[int]]


class ExprError(ValueError):
    """An expression is not allowed, names something unknown or has no value."""


def _floor_divide(left: int, right: int) -> int:
    if right == 0:
        raise ExprError("division by zero")
    return left // right


def _modulo(left: int, right: int) -> int:
    if right == 0:
        raise ExprError("modulo by zero")
    return left % right


def _ceil_to(value: int, step: int) -> int:
    if step <= 0:
        raise ExprError(f"ceil_to needs a positive step, not {step}")
    return -(-value // step) * step


_BINARY = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: _floor_divide,
    ast.Mod: _modulo,
}
_COMPARE = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}
_UNARY = {ast.USub: lambda a: -a, ast.UAdd: lambda a: a, ast.Not: lambda a: int(not a)}
_CALLS = {"min": (2, 8, min), "max": (2, 8, max), "ceil_to": (2, 2, _ceil_to)}
_OVER_RANKS = {"sum_ranks": sum, "max_ranks": max}

FUNCTIONS = frozenset(_CALLS) | frozenset(_OVER_RANKS)


def evaluate(
    text: str | int, scope: Mapping[str, int], over_ranks: RankValues | None = None
) -> int:
    """Value of `text` (an int stands for itself) with the names of `scope`.

    `over_ranks(name)` gives a dim's value on every rank, for sum_ranks and max_ranks; without it
    these are errors. Raises ExprError.
    """
    if isinstance(text, bool) or not isinstance(text, int | str):
        raise ExprError(f"{text!r} is neither an integer nor an expression")
    if isinstance(text, int):
        return _bounded(text)
    tree = _parse(text)
    try:
        return _Evaluator(scope, over_ranks).value(tree)
    except ExprError as error:
        raise ExprError(f"{error} in '{text}'") from None


def names(text: str | int) -> frozenset[str]:
    """Names that `text` reads, the dims of sum_ranks and max_ranks included."""
    if isinstance(text, int):
        return frozenset()
    functions = {node.func for node in ast.walk(_parse(text)) if isinstance(node, ast.Call)}
    nodes = (node for node in ast.walk(_parse(text)) if isinstance(node, ast.Name))
    return frozenset(node.id for node in nodes if node not in functions)


@functools.lru_cache(maxsize=4096)
def _parse(text: str) -> ast.expr:
    if len(text) > MAX_CHARACTERS:
        raise ExprError(f"an expression has {len(text)} characters, more than {MAX_CHARACTERS}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ExprError(f"'{text}' is not an expression") from None
    for count, (node, depth) in enumerate(_walk(tree, 1), start=1):
        if count > MAX_NODES or depth > MAX_DEPTH:
            raise ExprError(f"'{text}' is too long or too deep")
        _check_node(node, text)
    return tree


def _walk(node: ast.AST, depth: int) -> Iterator[tuple[ast.AST, int]]:
    waiting = [(node, depth)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting.extend((child, depth + 1) for child in ast.iter_child_nodes(node))


def _check_node(node: ast.AST, text: str) -> None:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool) or not isinstance(node.value, int):
            raise ExprError(f"'{text}': {node.value!r} is not an integer")
        _bounded(node.value)
    elif isinstance(node, ast.Call):
        _check_call(node, text)
    elif isinstance(node, ast.BinOp):
        _known(type(node.op), _BINARY, text)
    elif isinstance(node, ast.UnaryOp):
        _known(type(node.op), _UNARY, text)
    elif isinstance(node, ast.Compare):
        for operator in node.ops:
            _known(type(operator), _COMPARE, text)
    elif not isinstance(
        node, ast.Name | ast.BoolOp | ast.boolop | ast.operator | ast.unaryop | ast.cmpop | ast.Load
    ):
        raise ExprError(f"'{text}': {type(node).__name__} is not allowed in an expression")


def _check_call(node: ast.Call, text: str) -> None:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in FUNCTIONS or node.keywords:
        raise ExprError(f"'{text}': only {', '.join(sorted(FUNCTIONS))} can be called")
    if name in _OVER_RANKS:
        if len(node.args) != 1 or not isinstance(node.args[0], ast.Name):
            raise ExprError(f"'{text}': {name} takes the name of one dim")
        return
    low, high, _ = _CALLS[name]
    if not low <= len(node.args) <= high:
        raise ExprError(f"'{text}': {name} takes {low} to {high} arguments, not {len(node.args)}")


def _known(operator: type, table: Mapping[type, object], text: str) -> None:
    if operator not in table:
        raise ExprError(f"'{text}': operator {operator.__name__} is not allowed")


def _bounded(value: int) -> int:
    if not -MAX_VALUE <= value <= MAX_VALUE:
        raise ExprError("a value is beyond 2**62")
    return value


class _Evaluator:
    """Walks a tree that _parse has checked."""

    def __init__(self, scope: Mapping[str, int], over_ranks: RankValues | None):
        self.scope = scope
        self.over_ranks = over_ranks

    def value(self, node: ast.expr) -> int:
        return _bounded(int(getattr(self, f"_{type(node).__name__.lower()}")(node)))

    def _constant(self, node: ast.Constant) -> int:
        return node.value

    def _name(self, node: ast.Name) -> int:
        if node.id not in self.scope:
            raise ExprError(f"unknown name '{node.id}'")
        return self.scope[node.id]

    def _binop(self, node: ast.BinOp) -> int:
        return _BINARY[type(node.op)](self.value(node.left), self.value(node.right))

    def _unaryop(self, node: ast.UnaryOp) -> int:
        return _UNARY[type(node.op)](self.value(node.operand))

    def _boolop(self, node: ast.BoolOp) -> bool:
        if isinstance(node.op, ast.And):
            return all(self.value(part) for part in node.values)
        return any(self.value(part) for part in node.values)

    def _compare(self, node: ast.Compare) -> bool:
        left = self.value(node.left)
        for operator, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            if not _COMPARE[type(operator)](left, right):
                return False
            left = right
        return True

    def _call(self, node: ast.Call) -> int:
        name = node.func.id
        if name in _CALLS:
            return _CALLS[name][2](*(self.value(argument) for argument in node.args))
        if self.over_ranks is None:
            raise ExprError(f"{name} is not possible here")
        return _OVER_RANKS[name](self.over_ranks(node.args[0].id))
