# SPDX-License-Identifier: Apache-2.0
"""`ctx`, the one object that a problem's make_inputs, reference and oracle get."""

import hashlib
from dataclasses import dataclass
from types import SimpleNamespace

import torch

from harness.runner.problem import ProblemError
from harness.runner.resolve import Resolved


@dataclass(frozen=True)
class Seed:
    """What random numbers depend on: a session's secret and which draw of which problem it is."""

    secret: str
    problem: str
    size: str
    grid: str
    family: str
    trial: int

    def of(self, *words: str | int) -> int:
        """A 63-bit seed for one generator, such as of("rank", 3)."""
        parts = (self.secret, self.problem, self.size, self.grid, self.family, self.trial, *words)
        text = "\0".join(str(part) for part in parts)
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


class Context:
    """One rank's view of one draw.

    rank, world, device, family; dims.NAME (this rank's value; while drawing, a drawn dim's
    maximum); grid[axis] (extent) and coordinate[axis]; and the methods below.
    """

    def __init__(
        self,
        resolved: Resolved,
        rank: int,
        seed: Seed,
        device: str = "cpu",
        own_seed: Seed | None = None,
    ):
        """`own_seed` seeds this rank's own generator where that should differ from the shared
        ones: other inputs of one rank that still fit those of the others."""
        self.rank = rank
        self.world = resolved.world
        self.device = device
        self.family = seed.family
        self.dims = SimpleNamespace(**{name: v[rank] for name, v in resolved.dims.items()})
        self._resolved = resolved
        self.grid = dict(zip(resolved.grid.axes, resolved.grid.shape, strict=True))
        self.coordinate = resolved.grid.coordinates(rank)
        self._seed = seed
        self._own_seed = own_seed or seed
        self._generators: dict[tuple, torch.Generator] = {}
        self._groups: dict | None = None
        self._outputs: dict | None = None

    def connect(self, groups: dict, outputs: dict[str, torch.Tensor]) -> None:
        """Gives a reference what it may use: process groups by axis ("" = all) and its outputs."""
        self._groups = groups
        self._outputs = outputs

    def dims_of(self, rank: int) -> SimpleNamespace:
        """The dims of another rank, but for those that are data: these must be communicated."""
        fixed = self._resolved.dims.keys() - self._resolved.varying
        return SimpleNamespace(**{name: self._resolved.dims[name][rank] for name in fixed})

    @property
    def rng(self) -> torch.Generator:
        """This rank's own generator."""
        return self._generator("rank", self.rank)

    def shared_rng(self, axis: str | None = None) -> torch.Generator:
        """One generator for all ranks, or for the ranks with this rank's coordinate on `axis`.
        All of them must draw the same things from it in the same order."""
        if axis is None:
            return self._generator("shared")
        return self._generator("axis", axis, self._known_axis(axis)[axis])

    def group(self, axis: str | None = None):
        """Process group of all ranks, or of those that differ from this one on `axis` only."""
        if self._groups is None:
            raise ProblemError("make_inputs and oracle must not communicate: no process groups")
        return self._groups["" if axis is None else self._known_axis(axis) and axis]

    def out(self, name: str) -> torch.Tensor:
        """The output tensor to compute or communicate into; for an inout its input as well."""
        if self._outputs is None:
            raise ProblemError("only a reference has output tensors")
        if name not in self._outputs:
            raise ProblemError(f"rank {self.rank} has no output '{name}'")
        return self._outputs[name]

    def _known_axis(self, axis: str) -> dict[str, int]:
        if axis not in self.coordinate:
            raise ProblemError(f"the problem's grid has no axis '{axis}'")
        return self.coordinate

    def _generator(self, *words: str | int) -> torch.Generator:
        if words not in self._generators:
            generator = torch.Generator(self.device)
            seed = self._own_seed if words[0] == "rank" else self._seed
            generator.manual_seed(seed.of(*words))
            self._generators[words] = generator
        return self._generators[words]
