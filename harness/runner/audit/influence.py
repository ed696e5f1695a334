# SPDX-License-Identifier: Apache-2.0
"""Whether every output of every rank depends on every argument of every rank, except where the
problem file says `insensitive`, and whether what it says there is true.

An argument changes alone and stays valid: a rank's own generator draws anew while the shared ones
repeat themselves (or the other way round, for all ranks that hold the same), and the argument is
taken from there.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from harness.runner.audit.fault import Fault, fault_at
from harness.runner.audit.scene import Place, Scene, as_output, fitted, has_rows, same_bits
from harness.runner.case import Draw, Tensors
from harness.runner.compare import compare
from harness.runner.problem import Argument
from harness.runner.resolve import resolve_size

ATTEMPTS = 6  # other draws, of which one must move an expected output
FACTOR = 10  # times the tolerance that it must move by
STILL = 1e-11  # of the output's RMS: an output that stays within this has not moved at all


@dataclass(frozen=True)
class Change:
    """Other inputs: one argument of some ranks is not what it was."""

    inputs: list[Draw]
    is_sound: bool  # really drawn so, together with the rest


def check_influence(place: Place, scenes: Callable[[str], Scene], rank: int) -> list[Fault]:
    """Faults seen at the outputs of one rank. `scenes` gives a draw of a family. What nominal
    inputs hide, another family may show: a judge tries them all."""
    nominal = scenes("nominal")
    faults = []
    for argument in place.problem.arguments:
        for sources in _sources(nominal, argument):
            faults += _of_argument(place, scenes, rank, argument, sources)
    return faults


def _sources(scene: Scene, argument: Argument) -> list[list[int]]:
    """Groups of ranks whose argument changes together: each alone where it draws its own, else
    those that hold the same."""
    name = argument.name
    if argument.role == "scalar":
        return [list(range(scene.world))]
    if not argument.is_input or argument.is_fixed:
        return []
    holders = [
        rank
        for rank in range(scene.world)
        if name in scene.inputs[rank] and scene.inputs[rank][name].numel()
    ]
    groups: list[list[int]] = []
    for rank in holders:
        tensor = scene.inputs[rank][name]
        same = [g for g in groups if same_bits(scene.inputs[g[0]][name], tensor)]
        if same and not _draws_own(scene, name, rank):
            same[0].append(rank)
        else:
            groups.append([rank])
    return groups


def _draws_own(scene: Scene, name: str, rank: int) -> bool:
    """Whether an argument follows the rank's own generator."""
    tensor = scene.inputs[rank][name]
    return any(not same_bits(tensor, scene.redraw(rank, k)[name]) for k in range(2))


def _of_argument(
    place: Place,
    scenes: Callable[[str], Scene],
    rank: int,
    argument: Argument,
    sources: list[int],
) -> list[Fault]:
    looked_at = {a.name for a in place.problem.outputs if has_rows(scenes("nominal"), rank, a.name)}
    declared = {
        output
        for output in looked_at
        if all(is_insensitive(scenes("nominal"), output, argument.name, s, rank) for s in sources)
    }
    waiting, denied = looked_at - declared, set()
    for family in ("nominal", *place.problem.families):
        scene = scenes(family)
        seen = _see(scene, rank, argument.name, sources, waiting, declared)
        if seen is None and family == "nominal":
            return []  # it does not vary: told with the inputs, or it is a constant of the problem
        waiting, found = seen or (waiting, set())
        denied |= found
        if not waiting:
            break
    where = f"'{argument.name}' of rank {', '.join(map(str, sources))}"
    return [
        *(_unmoved(place, rank, output, argument, where) for output in sorted(waiting)),
        *(_untrue(place, rank, output, argument, where) for output in sorted(denied)),
    ]


def _see(
    scene: Scene, rank: int, name: str, sources: list[int], waiting: set, declared: set
) -> tuple[set[str], set[str]] | None:
    """Outputs that nothing moved yet, and those that moved although declared insensitive; None if
    the argument cannot be changed."""
    before = scene.expect(rank)
    denied: set[str] = set()
    has_changed = False
    for attempt, (change, after) in enumerate(_outcomes(scene, rank, name, sources)):
        has_changed = True
        waiting = {output for output in waiting if not _is_moved(scene, before, after, output)}
        if change.is_sound:
            denied |= {output for output in declared if not _is_still(before, after, output)}
        if not waiting and (attempt >= 1 or not declared):
            break
    return (waiting, denied) if has_changed else None


def _unmoved(place: Place, rank: int, output: str, argument: Argument, where: str) -> Fault:
    by = f"by more than {FACTOR} x tolerance"
    if place.problem.argument(output).check_in("nominal") != "float":
        by = "at all"
    text = f"output '{output}' of rank {rank} does not depend on {where} (other draws of it do not "
    text += f"move it {by}): give it weight in make_inputs, or declare it under insensitive"
    return fault_at(place, "influence", f"{output} on {argument.name}", text)


def _untrue(place: Place, rank: int, output: str, argument: Argument, where: str) -> Fault:
    text = f"insensitive says that output '{output}' of rank {rank} does not depend on {where}, "
    text += "but it does: narrow its condition in the problem file"
    return fault_at(place, "influence", f"{output} insensitive to {argument.name}", text)


def is_insensitive(scene: Scene, output: str, name: str, src: int, rank: int) -> bool:
    return any(
        entry.covers(output, name) and scene.case.resolved.evaluate(entry.when, rank, src=src)
        for entry in scene.case.problem.insensitive
    )


# ---- changes ----


def _alone(scene: Scene, name: str, sources: list[int]) -> Iterator[Change]:
    """Other inputs in which only this argument of `sources` differs, with the drawn dims that it
    decides."""
    is_own = _has_own(scene, name, sources)
    for attempt in range(ATTEMPTS):
        draw = scene.redraw if is_own else scene.redraw_shared
        others = {src: draw(src, attempt) for src in sources}
        if any(_differs(scene.inputs[src][name], other[name]) for src, other in others.items()):
            yield _mixed(scene, name, others)


def _together(scene: Scene, name: str, sources: list[int]) -> Iterator[Change]:
    """All of a rank's inputs anew, where an oracle cannot make sense of one alone; then the
    argument's own elements in another order."""
    for attempt in range(ATTEMPTS if _has_own(scene, name, sources) else 0):
        inputs = list(scene.inputs)
        inputs[sources[0]] = scene.redraw(sources[0], attempt)
        yield Change(inputs, is_sound=True)
    for step in range(1, ATTEMPTS):
        inputs = list(scene.inputs)
        for src in sources:
            inputs[src] = _turned(scene.inputs[src], name, step)
        yield Change(inputs, is_sound=False)


def _has_own(scene: Scene, name: str, sources: list[int]) -> bool:
    is_tensor = name in scene.inputs[sources[0]].tensors
    return len(sources) == 1 and is_tensor and _draws_own(scene, name, sources[0])


def _differs(one, two) -> bool:
    return not same_bits(one, two) if isinstance(one, torch.Tensor) else one != two


def _mixed(scene: Scene, name: str, others: dict[int, Draw]) -> Change:
    """The scene with one argument of `others`. What has another shape then is cut or repeated."""
    problem = scene.case.problem
    inputs = [Draw(dict(own.tensors), own.scalars, own.dims) for own in scene.inputs]
    for rank, other in others.items():
        own = scene.inputs[rank]
        dims = {d: (other if problem.deciders.get(d) == name else own).dims[d] for d in own.dims}
        inputs[rank] = _with(own, name, other[name], dims)
    drawn = {dim: [draw.dims[dim] for draw in inputs] for dim in problem.drawn}
    base = scene.case.resolved
    resolved = resolve_size(problem, base.size, base.world, base.grid, drawn)
    is_sound = True
    for rank, draw in enumerate(inputs):
        for key, tensor in draw.tensors.items():
            shape = resolved.shape(problem.argument(key), rank)
            if list(tensor.shape) != shape:
                is_sound &= key != name
                draw.tensors[key] = fitted(tensor, shape)
    return Change(inputs, is_sound)


def _with(draw: Draw, name: str, value, dims: dict[str, int]) -> Draw:
    if name in draw.scalars:
        return Draw(dict(draw.tensors), {**draw.scalars, name: value}, dims)
    return Draw({**draw.tensors, name: value}, draw.scalars, dims)


def _turned(draw: Draw, name: str, step: int) -> Draw:
    tensor = draw.tensors.get(name)
    if tensor is None:
        return draw
    bits = tensor.reshape(-1).view(_integer_like(tensor))
    turned = bits.roll(step).view(tensor.dtype).view(tensor.shape)
    return _with(draw, name, turned, draw.dims)


def _integer_like(tensor: torch.Tensor) -> torch.dtype:
    """A dtype of the same width in which elements can be moved."""
    by_width = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return by_width[tensor.element_size()]


def _outcomes(
    scene: Scene, rank: int, name: str, sources: list[int]
) -> Iterator[tuple[Change, Tensors]]:
    """Changes with what the oracle then expects. An argument that fits its rank's others cannot
    always change alone: only if the oracle makes sense of no such change are others tried."""
    for kind in (_alone, _together):
        is_understood = has_changed = False
        for change in kind(scene, name, sources):
            has_changed = True
            try:
                after = scene.expect(rank, change.inputs)
            except Exception:
                continue
            is_understood = True
            yield change, after
        if is_understood or not has_changed:
            return  # where nothing changes, it does not vary: told with the inputs


# ---- movement ----


def _is_moved(scene: Scene, before: Tensors, after: Tensors, name: str) -> bool:
    """Whether an expected output moved so far that no judge could miss it."""
    argument = scene.case.problem.argument(name)
    if before[name].shape != after[name].shape:
        return True
    tolerance = scene.tolerance(name).times(FACTOR)
    answer = as_output(argument, after[name])
    return compare(argument, scene.family, answer, before, tolerance) is not None


def _is_still(before: Tensors, after: Tensors, name: str) -> bool:
    one, two = before[name], after[name]
    if one.shape != two.shape:
        return False
    if not (one.is_floating_point() or one.is_complex()) or one.element_size() == 1:
        return same_bits(one, two)
    if one.numel() == 0:
        return True
    scale = float(one.abs().square().mean().sqrt())
    return float((one - two).abs().max()) <= STILL * scale
