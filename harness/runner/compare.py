# SPDX-License-Identifier: Apache-2.0
"""The judge's own comparison (build/lib/libpkbcompare.so), for those who judge without a judge:
audits, calibration and tests. Nothing here decides anything: harness/judge/compare.h has the rules.
"""

import ctypes
import functools
from dataclasses import dataclass

import torch

from harness.runner.memory import TORCH_DTYPES, load_library
from harness.runner.problem import METRICS, Argument, ProblemError

REFERENCE_FACTOR = 4  # as in compare.c: what an answer may exceed the reference's own error by


class _Request(ctypes.Structure):
    """pkb_compare_request of harness/judge/compare_call.c."""

    _fields_ = [
        ("dtype", ctypes.c_char_p),
        ("check", ctypes.c_char_p),
        ("out", ctypes.c_void_p),
        ("reference", ctypes.c_void_p),
        ("oracle", ctypes.c_void_p),
        ("alternative", ctypes.c_void_p),
        ("element_count", ctypes.c_uint64),
        ("row_count", ctypes.c_uint64),
        ("norm", ctypes.c_double),
        ("block", ctypes.c_double),
        ("max", ctypes.c_double),
    ]


class _Answer(ctypes.Structure):
    """pkb_compare_answer of the same file."""

    _fields_ = [
        ("is_wrong", ctypes.c_int64),
        ("index", ctypes.c_int64),
        ("wrong_count", ctypes.c_int64),
        ("error", ctypes.c_double),
        ("limit", ctypes.c_double),
        ("metric", ctypes.c_char * 16),
    ]


@dataclass(frozen=True)
class Errors:
    """The three errors of a float output against its oracle, or bounds for them."""

    norm: float
    block: float
    max: float

    def times(self, factor: float) -> "Errors":
        return Errors(factor * self.norm, factor * self.block, factor * self.max)

    def worst(self, other: "Errors") -> "Errors":
        return Errors(*(max(getattr(self, m), getattr(other, m)) for m in METRICS))

    def least(self, other: "Errors") -> "Errors":
        return Errors(*(min(getattr(self, m), getattr(other, m)) for m in METRICS))


NO_ERROR = Errors(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Mismatch:
    """What the judge would say of a wrong output."""

    metric: str  # "exact", "code", "norm", "block", "max", "non-finite"
    index: int
    wrong_count: int
    error: float
    limit: float

    def __str__(self) -> str:
        if self.metric in ("norm", "block", "max"):
            return f"{self.metric} error {self.error:.3g} where {self.limit:.3g} is allowed"
        return f"{self.wrong_count} elements differ, the first at {self.index}"


@functools.cache
def _library() -> ctypes.CDLL:
    loaded = load_library("libpkbcompare.so")
    request = ctypes.POINTER(_Request)
    loaded.pkb_compare_call.argtypes = [request, ctypes.POINTER(_Answer)]
    loaded.pkb_compare_errors_call.argtypes = [request, ctypes.POINTER(ctypes.c_double)]
    return loaded


class _Comparison:
    """A request and the tensors whose memory it points to."""

    def __init__(self, dtype: str, check: str, output: torch.Tensor, expected: torch.Tensor):
        rows = expected.shape[0] if expected.dim() else 1
        self._kept: list[torch.Tensor] = []
        self.request = _Request(
            dtype=dtype.encode(),
            check=check.encode(),
            out=self._pointer(output[:rows] if output.dim() else output, TORCH_DTYPES[dtype]),
            oracle=self._pointer(expected, expected.dtype),
            element_count=expected.numel(),
            row_count=rows,
        )
        if self._kept[0].shape != self._kept[1].shape:
            shapes = [list(tensor.shape) for tensor in self._kept]
            raise ProblemError(f"an output of the shape {shapes[0]} is compared with {shapes[1]}")

    def allow(self, tolerance: Errors) -> None:
        for metric in METRICS:
            setattr(self.request, metric, getattr(tolerance, metric))

    def beside(self, reference: torch.Tensor | None, alternative: torch.Tensor | None) -> None:
        rows = self.request.row_count
        if reference is not None:
            reference = reference[:rows] if reference.dim() else reference
            self.request.reference = self._pointer(reference, self._kept[0].dtype)
        if alternative is not None:
            self.request.alternative = self._pointer(alternative, self._kept[1].dtype)

    def _pointer(self, tensor: torch.Tensor, dtype: torch.dtype) -> int:
        if tensor.dtype != dtype:
            raise ProblemError(f"{tensor.dtype} is compared as {dtype}")
        self._kept.append(tensor.detach().cpu().contiguous())
        return self._kept[-1].data_ptr()


def compare(
    argument: Argument,
    family: str,
    output: torch.Tensor,
    expected: dict[str, torch.Tensor],
    tolerance: Errors = NO_ERROR,
    reference: torch.Tensor | None = None,
) -> Mismatch | None:
    """What is wrong with `output` as that argument, None if a judge takes it. `expected` is what
    the oracle returned: its rows are those that are meant. `reference`: what the reference gave,
    whose own error a judge allows for."""
    check = argument.check_in(family)
    if check == "none":
        return None
    comparison = _Comparison(argument.dtype, check, output, expected[argument.name])
    comparison.allow(tolerance)
    alternative = expected.get(f"{argument.name}_alt") if check == "quantized" else None
    comparison.beside(reference, alternative)
    answer = _Answer()
    _done(_library().pkb_compare_call(comparison.request, answer), argument)
    if not answer.is_wrong:
        return None
    return Mismatch(
        answer.metric.decode(), answer.index, answer.wrong_count, answer.error, answer.limit
    )


def errors(argument: Argument, output: torch.Tensor, expected: torch.Tensor) -> Errors:
    """The judge's three errors of a float output against its oracle."""
    comparison = _Comparison(argument.dtype, "float", output, expected)
    found = (ctypes.c_double * 3)()
    _done(_library().pkb_compare_errors_call(comparison.request, found), argument)
    return Errors(*found)


def _done(status: int, argument: Argument) -> None:
    if status != 0:
        raise ProblemError(f"'{argument.name}' of {argument.dtype} cannot be compared so")
