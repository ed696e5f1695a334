# SPDX-License-Identifier: Apache-2.0
"""What a program that does not do the work might answer. A judge must take none of it."""

from collections.abc import Callable, Iterator

import torch

from harness.runner.audit.influence import is_insensitive
from harness.runner.audit.scene import Place, Scene, as_output, fitted, poisoned, same_bits
from harness.runner.case import Draw, Tensors
from harness.runner.compare import REFERENCE_FACTOR, compare


def accepted_stubs(place: Place, scenes: list[Scene], rank: int) -> dict[str, bool]:
    """By stub, whether a judge would take its outputs of this rank in every draw. A stub passes if
    that holds on all ranks. Left out where there is no such stub."""
    found: dict[str, bool] = {}
    for name, make in _stubs(scenes[0]):
        is_accepted = _is_accepted_in_all(place, scenes, rank, make)
        if is_accepted is not None:
            found[name] = is_accepted
    return found


Stub = Callable[[Scene, Tensors, int], Tensors]


def _is_accepted_in_all(place: Place, scenes: list[Scene], rank: int, make: Stub) -> bool | None:
    """None if there is no such stub. The first draw that refuses it decides."""
    for scene in scenes:
        expected = scene.expect(rank)
        answer = _attempt(make, scene, expected, rank)
        if answer is None:
            return None
        if not _is_accepted(place, answer, expected):
            return False
    return True


def _attempt(make: Stub, scene: Scene, expected: Tensors, rank: int) -> Tensors | None:
    try:
        return make(scene, expected, rank)
    except Exception:
        return None  # an oracle need not cope with blank or foreign inputs


def _is_accepted(place: Place, answer: Tensors, expected: Tensors) -> bool:
    """With the widest bounds that a judge may use: the reference itself is within tolerance."""
    for argument in place.problem.outputs:
        name = argument.name
        if name not in expected:
            continue
        if answer[name].shape != expected[name].shape:
            return False
        allowed = place.tolerance(name).times(REFERENCE_FACTOR)
        output = as_output(argument, answer[name])
        if compare(argument, "nominal", output, expected, allowed) is not None:
            return False
    return True


def _stubs(scene: Scene) -> Iterator[tuple[str, Stub]]:
    if all(scene.is_blank(rank) for rank in range(scene.world)):
        return  # nothing goes in: any answer is right
    yield "zeros", _each(torch.zeros_like)
    yield "ones", _each(torch.ones_like)
    yield "the mean of the output", _each(_mean)
    yield "outputs left as they were", _untouched
    yield "the answer of another draw", _earlier
    yield "what the rank's own inputs give alone", _alone
    if len({_form(draw) for draw in scene.inputs}) == 1:
        yield "as if all ranks held this rank's inputs", _like_me
    for skipped in range(scene.world):
        if not scene.is_blank(skipped) and _matters(scene, skipped):
            yield f"rank {skipped} left out", _without(skipped)
            if _is_open(scene, skipped):
                yield f"rank {skipped} guessed", _guessed(skipped)
    for name in {name: None for draw in scene.inputs for name in draw.tensors}:
        yield f"a copy of '{name}'", _copy_of(name)


def _each(make: Callable[[torch.Tensor], torch.Tensor]) -> Stub:
    return lambda scene, expected, rank: {name: make(value) for name, value in expected.items()}


def _mean(value: torch.Tensor) -> torch.Tensor:
    wide = torch.complex128 if value.is_complex() else torch.float64
    mean = value.to(wide).mean() if value.numel() else torch.zeros((), dtype=wide)
    return mean.expand(value.shape).to(value.dtype)


def _untouched(scene: Scene, expected: Tensors, rank: int) -> Tensors:
    outputs = poisoned(scene.case, scene.resolved, rank)
    return {
        name: output[: len(expected[name])] if output.dim() else output
        for name, output in outputs.items()
    }


def _earlier(scene: Scene, expected: Tensors, rank: int) -> Tensors:
    return Scene(scene.case, trial=1, family=scene.family).expect(rank)


def _alone(scene: Scene, expected: Tensors, rank: int) -> Tensors:
    inputs = [draw if q == rank else scene.blank(q) for q, draw in enumerate(scene.inputs)]
    return scene.expect(rank, inputs)


def _like_me(scene: Scene, expected: Tensors, rank: int) -> Tensors:
    return scene.expect(rank, [scene.inputs[rank]] * scene.world)


def _without(skipped: int) -> Stub:
    def answer(scene: Scene, expected: Tensors, rank: int) -> Tensors:
        inputs = [scene.blank(q) if q == skipped else d for q, d in enumerate(scene.inputs)]
        return scene.expect(rank, inputs)

    return answer


def _guessed(skipped: int) -> Stub:
    def answer(scene: Scene, expected: Tensors, rank: int) -> Tensors:
        inputs = list(scene.inputs)
        inputs[skipped] = scene.guess(skipped)
        return scene.expect(rank, inputs)

    return answer


def _is_open(scene: Scene, src: int) -> bool:
    """Whether a rank's own generator decides anything here: else a guess of it is the truth."""
    own, other = scene.inputs[src].tensors, scene.redraw(src, 0).tensors
    return any(not same_bits(own[name], other[name]) for name in own.keys() & other.keys())


def _matters(scene: Scene, src: int) -> bool:
    """Whether some output depends on a rank at all, by what the file says."""
    return any(
        not is_insensitive(scene, output.name, name, src, rank)
        for rank in range(scene.world)
        for output in scene.case.problem.outputs
        if scene.resolved.present(output, rank)
        for name in scene.inputs[src].tensors
        if not scene.case.problem.argument(name).is_fixed
    )


def _copy_of(name: str) -> Stub:
    """The argument's elements from the start, over and over; zeros where a rank lacks it."""

    def answer(scene: Scene, expected: Tensors, rank: int) -> Tensors:
        tensor = scene.inputs[rank].tensors.get(name)
        if tensor is None:
            return {output: torch.zeros_like(value) for output, value in expected.items()}
        return {
            output: fitted(tensor, value.shape).to(value.dtype)
            for output, value in expected.items()
        }

    return answer


def _form(draw: Draw) -> str:
    return repr(sorted((name, tensor.shape) for name, tensor in draw.tensors.items()))
