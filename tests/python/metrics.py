# SPDX-License-Identifier: Apache-2.0
"""The judge's three errors of a float output, and its verdict, in Python: for tests and
calibration. The judge's own are in harness/judge/compare.c.
"""

import itertools
import math
from dataclasses import dataclass

import torch

BLOCKS = 64  # PKB_COMPARE_BLOCKS
REFERENCE_FACTOR = 4


@dataclass(frozen=True)
class Errors:
    norm: float
    block: float
    max: float

    def within(self, bound: "Errors") -> bool:
        return self.norm <= bound.norm and self.block <= bound.block and self.max <= bound.max

    def exceeds(self, bound: "Errors", factor: float = 1) -> bool:
        """Whether at least one error is beyond `factor` times its bound."""
        return not self.within(bound.times(factor))

    def times(self, factor: float) -> "Errors":
        return Errors(factor * self.norm, factor * self.block, factor * self.max)

    def worst(self, other: "Errors") -> "Errors":
        return Errors(
            max(self.norm, other.norm), max(self.block, other.block), max(self.max, other.max)
        )


NO_ERROR = Errors(0, 0, 0)


def errors(output: torch.Tensor, oracle: torch.Tensor) -> Errors:
    """Errors of `output` (any dtype, any shape) against `oracle` (float64 or complex128). Rows are
    along the first axis. All infinite where one is not finite or the oracle is zero and `output`
    is not."""
    if oracle.numel() == 0:
        return NO_ERROR
    difference = output.to(oracle.dtype) - oracle
    size = float(oracle.abs().square().mean().sqrt())
    if not bool(torch.isfinite(difference.abs()).all()):
        return Errors(math.inf, math.inf, math.inf)
    if size == 0:
        worst = math.inf if bool(difference.abs().any()) else 0.0
        return Errors(worst, worst, worst)
    difference = difference.abs().reshape(oracle.shape[0] if oracle.dim() else 1, -1)
    return Errors(
        norm=_rms(difference) / size,
        block=max(_rms(block) for block in _blocks(difference)) / size,
        max=float(difference.max()) / size,
    )


def _rms(values: torch.Tensor) -> float:
    return float(values.square().mean().sqrt())


def _blocks(rows: torch.Tensor) -> list[torch.Tensor]:
    count = min(BLOCKS, len(rows))
    edges = [len(rows) * block // count for block in range(count + 1)]
    return [rows[begin:end] for begin, end in itertools.pairwise(edges)]


def bound(tolerance: dict[str, float], reference: Errors = NO_ERROR) -> Errors:
    """What a judge allows: the file's tolerance, or a multiple of the reference's own error."""
    return Errors(**tolerance).worst(reference.times(REFERENCE_FACTOR))


def is_right(
    output: torch.Tensor, expected: torch.Tensor, check: str, allowed: Errors | None = None
) -> bool:
    """Whether a judge would accept `output`. `allowed` belongs to the check `float`."""
    if output.shape != expected.shape:
        return False  # rows that are counted, and another number of them
    if check == "float":
        return errors(output, expected).within(allowed)
    return same_values(output, expected.to(output.dtype))


def same_values(one: torch.Tensor, two: torch.Tensor) -> bool:
    """Equal element by element; 8-bit floats, which torch cannot compare, by their bits."""
    if one.dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        return same_bits(one, two)
    return torch.equal(one, two)


def same_bits(one: torch.Tensor, two: torch.Tensor) -> bool:
    one, two = (tensor.contiguous().reshape(-1).view(torch.uint8) for tensor in (one, two))
    return torch.equal(one, two)


def moved(before: torch.Tensor, after: torch.Tensor, check: str, tolerance: dict) -> bool:
    """Whether an expected output moved so far that no judge could miss it."""
    if before.shape != after.shape:
        return True
    if check == "float":
        return errors(after, before).exceeds(Errors(**tolerance), factor=10)
    return not same_values(before, after)
