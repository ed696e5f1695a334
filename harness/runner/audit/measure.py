# SPDX-License-Identifier: Apache-2.0
"""What tolerances are set from, measured on one rank: the errors of honest programs from one side,
of the cheapest cheats from the other."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from harness.runner.audit.agreement import honest_answers
from harness.runner.audit.scene import Place, Scene, as_output, has_rows, run_reference, same_bits
from harness.runner.audit.world import Rank
from harness.runner.case import Draw, Tensors
from harness.runner.compare import Errors, compare, errors
from harness.runner.problem import Argument

TILE = 16
GROUP = 32
LEAST = 4  # elements that share a factor
HONEST = {
    "reference": "the reference",
    "rounded_once": "the exact result rounded once",
    "float32": "the oracle's formula in float32, rounded once",
    "chain": "every rank's part rounded, summed in a chain of ranks",
    "tree": "every rank's part rounded, summed in a tree of ranks",
}
CHEATS = {
    "one_rank_missing_in_a_tile": f"in {TILE} x {TILE} elements of median contribution",
    "one_rank_missing_in_an_element": "in an element of median contribution",
    "local_only": "nothing of the other ranks",
}
OTHERS = {
    "eight_bits": "the other ranks' inputs as e4m3 with a factor a tensor",
    "eight_bit_blocks": f"the other ranks' inputs as int8 with a factor for {GROUP} elements",
    "eight_bit_channels": "the other ranks' inputs as int8 with a factor a channel",
}
_HOW = {
    "in float32": "float32",
    "in a chain of ranks": "chain",
    "in a tree of ranks": "tree",
}


@dataclass(frozen=True)
class Sample:
    """Errors of one output on one rank in one draw, by kind; infinite where it is compared exactly
    and differs."""

    output: str
    size: str
    world: int
    rank: int
    family: str
    errors: dict[str, Errors]


def measure(me: Rank, place: Place, family: str, trials: int) -> list[Sample]:
    """Of all float outputs; collective."""
    samples = []
    case = place.case("calibration")
    for trial in range(trials):
        scene = Scene(case, trial, family)
        outputs = run_reference(me, scene)
        answers = _answers(place, scene, me.rank, outputs)
        for argument in place.problem.outputs:
            name = argument.name
            if "float" in argument.check.values() and has_rows(scene, me.rank, name):
                found = {
                    kind: _error(argument, scene, answer[name], scene.expect(me.rank))
                    for kind, answer in answers.items()
                    if name in answer
                }
                samples.append(
                    Sample(name, place.size, place.world, me.rank, family, _known(found))
                )
    return samples


def _known(found: dict[str, Errors | None]) -> dict[str, Errors]:
    return {kind: error for kind, error in found.items() if error is not None}


def _error(argument: Argument, scene: Scene, answer: torch.Tensor, expected: Tensors):
    """None where an answer cannot be compared: other rows than those that are meant."""
    wanted = expected[argument.name]
    if wanted.dim() and (len(answer) < len(wanted) or answer.shape[1:] != wanted.shape[1:]):
        return None
    if argument.check_in(scene.family) == "float":
        return errors(argument, answer, wanted)
    is_wrong = compare(argument, scene.family, answer, expected) is not None
    return Errors(*[math.inf if is_wrong else 0.0] * 3)


def _answers(place: Place, scene: Scene, rank: int, reference: Tensors) -> dict[str, Tensors]:
    expected = scene.expect(rank)
    rounded = {
        a.name: as_output(a, expected[a.name]) for a in place.problem.outputs if a.name in expected
    }
    answers = {"reference": reference, "rounded_once": rounded}
    is_nominal = scene.family == "nominal"
    for how, answer in honest_answers(place, scene, rank, is_nominal).items():
        if how in _HOW:
            answers[_HOW[how]] = answer
    for kind, inputs in (
        ("local_only", _alone(scene, rank)),
        ("eight_bits", _coarse(scene, rank, _in_e4m3)),
        ("eight_bit_blocks", _coarse(scene, rank, _in_int8)),
        ("eight_bit_channels", _coarse(scene, rank, _in_int8_by_channel)),
    ):
        answer = _expect(scene, rank, inputs) or {}
        answers[kind] = {
            name: as_output(place.problem.argument(name), answer[name])
            for name in rounded.keys() & answer.keys()
            if not same_bits(answer[name], expected[name])  # else it is no cheat
        }
    tile, element = _left_out(place, scene, rank, rounded)
    answers["one_rank_missing_in_a_tile"], answers["one_rank_missing_in_an_element"] = tile, element
    return answers


def _alone(scene: Scene, rank: int) -> list[Draw]:
    return [d if q == rank else scene.blank(q) for q, d in enumerate(scene.inputs)]


def _coarse(scene: Scene, rank: int, code: Callable[[torch.Tensor], torch.Tensor]) -> list[Draw]:
    """The inputs, those of the others as they are after a narrow format, but for what this rank
    holds as well: nobody has to send it."""
    own = scene.inputs[rank].tensors

    def coarse(name: str, tensor: torch.Tensor) -> torch.Tensor:
        is_narrow = not tensor.is_floating_point() or tensor.element_size() == 1
        if is_narrow or not tensor.any() or (name in own and same_bits(tensor, own[name])):
            return tensor
        return code(tensor.double()).to(tensor.dtype)

    return [
        draw
        if q == rank
        else Draw({k: coarse(k, t) for k, t in draw.tensors.items()}, draw.scalars, draw.dims)
        for q, draw in enumerate(scene.inputs)
    ]


def _in_e4m3(tensor: torch.Tensor) -> torch.Tensor:
    unit = tensor.abs().max() / torch.finfo(torch.float8_e4m3fn).max
    return (tensor / unit).float().to(torch.float8_e4m3fn).double() * unit


def _in_int8(tensor: torch.Tensor) -> torch.Tensor:
    flat = torch.nn.functional.pad(tensor.flatten(), (0, -tensor.numel() % GROUP)).view(-1, GROUP)
    return _whole_units(flat, 1).flatten()[: tensor.numel()].view(tensor.shape)


def _in_int8_by_channel(tensor: torch.Tensor) -> torch.Tensor:
    """With a factor for each place on the last axis, the largest over all others; as it is where
    these are so few that factors cost what 8 bits save."""
    rows = tensor.reshape(-1, tensor.shape[-1])
    return _whole_units(rows, 0).view(tensor.shape) if len(rows) >= LEAST else tensor


def _whole_units(tensor: torch.Tensor, axis: int) -> torch.Tensor:
    """To whole multiples of the largest along an axis, by 127."""
    unit = tensor.abs().amax(axis, keepdim=True).clamp(min=1e-300) / 127
    return (tensor / unit).round() * unit


def _expect(scene: Scene, rank: int, inputs: list[Draw]) -> Tensors | None:
    try:
        return scene.expect(rank, inputs)
    except Exception:
        return None  # an oracle need not cope with blank inputs


# ---- a rank left out, where it counts little ----


def _left_out(place: Place, scene: Scene, rank: int, rounded: Tensors) -> tuple[Tensors, Tensors]:
    """Outputs that are right but for what one rank contributes to a tile, and to an element. By
    output the next rank that contributes to it at all."""
    tiles: Tensors = {}
    elements: Tensors = {}
    expected = scene.expect(rank)
    for step in range(1, scene.world):
        skipped = (rank + step) % scene.world
        missing = [n for n in rounded if n not in tiles]
        for inputs in _without(scene, skipped) if missing else ():
            other = _expect(scene, rank, inputs)
            for name in missing if other is not None else ():
                argument = place.problem.argument(name)
                if "float" not in argument.check.values() or name in tiles:
                    continue
                if other[name].shape == expected[name].shape and other[name].numel():
                    contribution = (expected[name] - other[name]).abs()
                    if contribution.any():
                        wrong = as_output(argument, other[name])
                        tiles[name] = _in_a_tile(rounded[name], wrong, contribution)
                        elements[name] = _in_an_element(rounded[name], wrong, contribution)
    return tiles, elements


def _without(scene: Scene, skipped: int):
    """All inputs, those of one rank blank; where that means nothing, guessed."""
    for draw in (scene.blank(skipped), scene.guess(skipped)):
        yield [draw if q == skipped else d for q, d in enumerate(scene.inputs)]


def _in_a_tile(right: torch.Tensor, wrong: torch.Tensor, contribution: torch.Tensor):
    """The tile (of the last axis and all others) of median contribution, among those of any."""
    columns = right.shape[-1] if right.dim() > 1 else 1
    weights = contribution.reshape(1, 1, -1, columns).square()
    sums = torch.nn.functional.avg_pool2d(weights, TILE, ceil_mode=True)[0, 0]
    at = _median(sums.flatten())
    row, column = divmod(at, sums.shape[1])
    cheat = right.clone().reshape(-1, columns)
    tile = (
        slice(row * TILE, (row + 1) * TILE),
        slice(column * TILE, (column + 1) * TILE),
    )
    cheat[tile] = wrong.reshape(-1, columns)[tile]
    return cheat.view(right.shape)


def _in_an_element(right: torch.Tensor, wrong: torch.Tensor, contribution: torch.Tensor):
    cheat = right.clone()
    at = _median(contribution.flatten())
    cheat.view(-1)[at] = wrong.reshape(-1)[at]
    return cheat


def _median(values: torch.Tensor) -> int:
    """Where the median of those that are not zero stands."""
    order = values.argsort()
    zeros = int((values == 0).sum())
    return int(order[zeros + (len(order) - zeros) // 2])
