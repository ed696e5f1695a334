# SPDX-License-Identifier: Apache-2.0
"""One open size of a problem in a runner: the judge's regions, the pool's entries, and the verbs
draw, expect and batch on them.
"""

import gc
import os
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from harness.runner import expr
from harness.runner.case import Case, Context, Draw, RankInputs, Seed, Tensors
from harness.runner.groups import Groups
from harness.runner.memory import (
    ALIGN_BYTES,
    TORCH_DTYPES,
    UNWRITTEN,
    MemoryFault,
    Region,
    bytes_of,
    oracle_dtype,
)
from harness.runner.page import Worker
from harness.runner.problem import Argument, ProblemError, load
from harness.runner.protocol import ProtocolError
from harness.runner.resolve import Resolved, grids, resolve_size


@dataclass
class Entry:
    """What a pool entry holds: which draw, and what of it is no tensor."""

    seed: Seed
    resolved: Resolved
    scalars: dict[str, int | float]
    dims: dict[str, int]
    host: Tensors  # host arguments: of no slot, and in host memory on every device
    _shapes: dict[str, list[int] | None] = field(default_factory=dict)

    def shape(self, argument: Argument, rank: int) -> list[int] | None:
        """Of an argument on the runner's own rank; None if it is absent. Evaluated once: a batch
        has hundreds of calls."""
        if argument.name not in self._shapes:
            is_present = self.resolved.present(argument, rank)
            shape = self.resolved.shape(argument, rank) if is_present else None
            self._shapes[argument.name] = shape
        return self._shapes[argument.name]


class Session:
    def __init__(self, request: dict, fds: list[int], rank: int, world: int, device: str):
        """Maps the regions of an `open` request. `fds`: slots, pool, page; they stay open."""
        if len(fds) != 3:
            raise ProtocolError(f"open came with {len(fds)} descriptors instead of 3")
        self.rank = rank
        self.case = Case(_resolve(request, world), request["secret"], device)
        self.layout = layout = request["layout"]
        self._places = {entry["name"]: entry for entry in layout["arguments"]}
        self._entries: dict[int, Entry] = {}
        self._groups: dict = {}
        self._regions: list[Region] = []
        try:
            sizes = (layout["slots_bytes"], layout["pool_bytes"], layout["page_bytes"])
            devices = (device, device, "cpu")
            for fd, size_bytes, place in zip(fds, sizes, devices, strict=True):
                self._regions.append(Region(fd, size_bytes, place))
            self._slots, self._pool, page = self._regions
            if page.size_bytes < Worker.BYTES:
                raise MemoryFault(f"a page of {page.size_bytes} bytes is too small")
        except MemoryFault:
            self.close()
            raise
        spin = len(os.sched_getaffinity(0)) >= 3 * world
        self.worker = Worker(page.address, spin)

    def connect(self, groups: Groups) -> None:
        """Makes the process groups of the grid; collective."""
        self._groups = groups.of(self.case.resolved.grid)

    def close(self) -> None:
        for region in self._regions:
            region.close()
        self._regions = []
        self.trim()  # the next size needs it, and so does the attempt

    def trim(self) -> None:
        """Gives back the GPU memory that PyTorch keeps for later."""
        if self.case.device == "cuda":
            torch.cuda.empty_cache()

    def synchronise(self) -> None:
        """Waits for the reference's stream."""
        if self.case.device == "cuda":
            torch.cuda.current_stream().synchronize()

    def settle(self) -> None:
        """Waits for all that was begun on the device, whatever the stream: the judge reads it."""
        if self.case.device == "cuda":
            torch.cuda.synchronize()

    def claim(self) -> None:
        """A little work: a GPU that processes share switches to this one."""
        if self.case.device == "cuda":
            torch.zeros(1, device="cuda")
        self.synchronise()

    # ---- verbs ----

    def draw(self, entry: int, trial: int, family: str) -> dict:
        """Writes this rank's inputs into the inputs image of pool entry `entry`."""
        base = self._entry_offset(entry)
        seed = self.case.seed(trial, family)
        resolved = self.case.resolve(seed)
        draw = self.case.draw(self.rank, seed)
        dims = {name: resolved.dims[name][self.rank] for name in sorted(resolved.varying)}
        state = Entry(seed, resolved, draw.scalars, dims, {})
        for name, tensor in draw.tensors.items():
            argument = self.case.problem.argument(name)
            self._view(self._pool, base, argument, state).copy_(tensor)
            if argument.role == "host":
                state.host[name] = tensor.cpu()
        self.settle()
        self._entries[entry] = state
        return {"scalars": draw.scalars, "dims": dims, "shapes": self._drawn_shapes(resolved)}

    def _drawn_shapes(self, resolved: Resolved) -> dict[str, list[int]]:
        """Shapes here of the arguments whose shape is data."""
        varying = self.case.resolved.varying
        return {
            argument.name: resolved.shape(argument, self.rank)
            for argument in self.case.problem.arguments
            if any(expr.names(axis) & varying for axis in argument.shape)
        }

    def expect(self, entry: int) -> None:
        """Reference and oracle of what entry `entry` holds, into its other two parts; collective,
        since the reference is."""
        state, base = self._known(entry), self._entry_offset(entry)
        own = self._inputs(self._pool, base, state)
        image = base + self.layout["reference_offset"]
        for argument in self.case.problem.outputs:
            view = self._view(self._pool, image, argument, state)
            view.view(-1).view(TORCH_DTYPES["u8"]).fill_(UNWRITTEN)
        self._call(self._pool, image, state, inputs_base=base)()

        context = self.case.context(state.resolved, self.rank, state.seed)
        inputs = RankInputs(self.case, state.seed, self.rank, own)
        area = base + self.layout["oracle_offset"]
        for name, value in self.case.run_oracle(context, state.resolved, inputs).items():
            self._oracle_view(area, name, list(value.shape)).copy_(value)
        self.settle()

    def batch(self, slots: list[int], entries: list[int]) -> Callable[[], None]:
        """Gets ready to run the reference on `slots`, whose contents came from `entries`; the
        function that it returns does one batch."""
        if len(slots) != len(entries):
            raise ProtocolError(f"batch has {len(slots)} slots and {len(entries)} entries")
        calls = []
        for slot, entry in zip(slots, entries, strict=True):
            if not 0 <= slot < self.layout["slot_count"]:
                raise ProtocolError(f"there is no slot {slot}")
            base = slot * self.layout["slot_stride"]
            calls.append(self._call(self._slots, base, self._known(entry), inputs_base=base))

        def run() -> None:
            for call in calls:
                call()
            self.synchronise()

        gc.collect()  # not under the clock
        self.synchronise()
        return run

    # ---- places ----

    def _call(
        self, region: Region, base: int, state: Entry, inputs_base: int
    ) -> Callable[[], None]:
        """One call of the reference, ready to go: outputs in the image at `base`, inputs in the
        one at `inputs_base` of the same region. An inout is copied over where these differ."""
        own = self._inputs(region, inputs_base, state)
        outputs: Tensors = {}
        for argument in self.case.problem.outputs:
            if state.shape(argument, self.rank) is not None:
                outputs[argument.name] = self._view(region, base, argument, state)
        for name in outputs.keys() & own.tensors.keys():
            if base != inputs_base:
                outputs[name].copy_(own.tensors[name])
            own.tensors[name] = outputs[name]
        context, arguments = self._context(state, outputs), own.arguments()
        return lambda: self.case.run_reference(context, arguments, outputs)

    def _context(self, state: Entry, outputs: Tensors) -> Context:
        context = self.case.context(state.resolved, self.rank, state.seed)
        context.connect(self._groups, outputs)
        return context

    def _inputs(self, region: Region, base: int, state: Entry) -> Draw:
        tensors = {
            argument.name: self._view(region, base, argument, state)
            for argument in self.case.problem.arguments
            if argument.is_input and state.shape(argument, self.rank) is not None
        }
        tensors.update(state.host)
        return Draw(tensors, dict(state.scalars), dict(state.dims))

    def _view(self, region: Region, base: int, argument: Argument, state: Entry):
        """An argument in the image at `base`, with the shape of a draw; empty if absent."""
        shape = state.shape(argument, self.rank)
        offset = base + self._place(argument.name)["offset"]
        return region.view(offset, [0] if shape is None else shape, TORCH_DTYPES[argument.dtype])

    def _oracle_view(self, area: int, name: str, shape: list[int]):
        """An expected output; NAME_alt follows NAME at its largest."""
        is_alt = name.endswith("_alt") and name not in self._places
        argument = self.case.problem.argument(name.removesuffix("_alt") if is_alt else name)
        offset, dtype = self._place(argument.name)["oracle_offset"], oracle_dtype(argument.dtype)
        if is_alt:
            largest = bytes_of(self.case.resolved.shape(argument, self.rank), dtype)
            offset += -(-largest // ALIGN_BYTES) * ALIGN_BYTES
        return self._pool.view(area + offset, shape, dtype)

    def _place(self, name: str) -> dict:
        if name not in self._places:
            raise ProtocolError(f"the layout has no argument '{name}'")
        return self._places[name]

    def _entry_offset(self, entry: int) -> int:
        if not 0 <= entry < self.layout["entry_count"]:
            raise ProtocolError(f"the pool has no entry {entry}")
        return entry * self.layout["entry_stride"]

    def _known(self, entry: int) -> Entry:
        if entry not in self._entries:
            raise ProtocolError(f"nothing was drawn into entry {entry}")
        return self._entries[entry]


def _resolve(request: dict, world: int) -> Resolved:
    """The one size and grid shape that an `open` request names."""
    problem = load(request["problem_file"])
    size = problem.size(request["size"])
    for grid in grids(problem.axes, world):
        if str(grid) == request.get("grid", ""):
            return resolve_size(problem, size, world, grid)
    raise ProblemError(f"{problem.name} has no grid '{request['grid']}' at P = {world}")
