# SPDX-License-Identifier: Apache-2.0
"""Inputs: reproducible, independent of each other, finite, and shared only where the problem file
says so."""

import hashlib
from collections.abc import Iterator

import torch

from harness.runner.audit.fault import Fault, fault_at
from harness.runner.audit.scene import Place, Scene, bytes_of
from harness.runner.case import Case, Draw
from harness.runner.problem import Argument

MANY = 16  # elements that cannot all be equal by chance


def check_inputs(place: Place, cases: list[Case], scenes: list[Scene], rank: int) -> list[Fault]:
    """Faults in what one rank draws. `scenes`: a nominal draw of each case, then other families."""
    nominal = scenes[: len(cases)]
    faults = [*_unvaried(place, cases, nominal, rank), *_unshared(place, nominal, rank)]
    for scene in scenes:
        faults += _broken(place, scene, rank)
    return faults


def digests(scene: Scene) -> list[str]:
    """Of each rank's inputs; equal in whichever process they were drawn."""
    found = []
    for draw in scene.inputs:
        digest = hashlib.sha256(repr((sorted(draw.scalars.items()), draw.dims)).encode())
        for name in sorted(draw.tensors):
            digest.update(bytes_of(draw.tensors[name].cpu()).numpy().tobytes())
        found.append(digest.hexdigest())
    return found


def _unvaried(place: Place, cases: list[Case], scenes: list[Scene], rank: int) -> Iterator[Fault]:
    """Inputs that are the same in other trials, with other secrets, or constant."""
    mine = [scene.inputs[rank] for scene in scenes]
    later = [case.draw(rank, case.seed(1, "nominal")) for case in cases]
    for argument in place.problem.arguments:
        name = argument.name
        if name not in mine[0]:
            continue
        # Fewer bytes than a float holds may agree by chance; then all of these pairs do not.
        by_trial = all(_same(a[name], b[name]) for a, b in zip(mine, later, strict=True))
        by_secret = len(mine) > 1 and all(_same(mine[0][name], draw[name]) for draw in mine[1:])
        if argument.is_fixed:
            if not (by_trial and by_secret):
                text = f"host array '{name}' of rank {rank} differs from draw to draw, but set-up "
                text += 'sees it before there is data: make it constant or say "drawn": true'
                yield fault_at(place, "inputs", name, text)
        elif argument.role == "scalar":
            if by_trial and by_secret:
                text = f"scalar '{name}' is {mine[0][name]} in every draw: a program may type it in"
                yield fault_at(place, "note", name, text)
        elif mine[0][name].numel() > 0:
            yield from _too_equal(place, rank, name, mine[0][name], by_trial, by_secret)


def _too_equal(
    place: Place, rank: int, name: str, tensor: torch.Tensor, by_trial: bool, by_secret: bool
) -> Iterator[Fault]:
    if by_trial or by_secret:
        what = "trial to trial" if by_trial else "secret to secret"
        text = f"'{name}' of rank {rank} does not vary from {what}, so its values can be typed in: "
        yield fault_at(place, "inputs", name, text + "draw it with ctx.rng or ctx.shared_rng()")
    elif tensor.numel() >= MANY and bool((tensor == tensor.reshape(-1)[0]).all()):
        text = f"all elements of '{name}' of rank {rank} are {tensor.reshape(-1)[0].item()}, so "
        text += "that their place does not matter: draw every element"
        yield fault_at(place, "inputs", name, text)


def _same(one, two) -> bool:
    if isinstance(one, torch.Tensor):
        return one.shape == two.shape and torch.equal(bytes_of(one), bytes_of(two))
    return one == two


def _unshared(place: Place, scenes: list[Scene], rank: int) -> Iterator[Fault]:
    """Equal on two ranks although the file does not say `shared`, or the other way round."""
    for argument in place.problem.arguments:
        if not argument.is_input or argument.is_fixed:
            continue
        name = argument.name
        for other in range(rank + 1, place.world):
            pairs = [(s.inputs[rank], s.inputs[other]) for s in scenes]
            pairs = [(a[name], b[name]) for a, b in pairs if _both(name, a, b)]
            if not pairs or pairs[0][0].numel() == 0:
                continue
            is_shared = shares(scenes[0].case, argument, rank, other)
            if is_shared and not all(_same(*pair) for pair in pairs):
                text = f"'{name}' differs between ranks {rank} and {other}, but the "
                text += f'problem file says "shared": "{argument.shared}": draw it with '
                text += "ctx.shared_rng() only, or take that out"
                yield fault_at(place, "inputs", name, text)
            elif not is_shared and all(_same(*pair) for pair in pairs):
                text = f"'{name}' is the same on ranks {rank} and {other}: draw it with "
                text += 'ctx.rng, or say "shared" in the problem file if the definition shares it'
                yield fault_at(place, "inputs", name, text)


def _both(name: str, one: Draw, two: Draw) -> bool:
    return name in one and name in two and one[name].shape == two[name].shape


def shares(case: Case, argument: Argument, one: int, two: int) -> bool:
    """Whether two ranks hold the same by definition."""
    if argument.shared in ("", "all"):
        return argument.shared == "all"
    coordinates = [case.resolved.grid.coordinates(rank)[argument.shared] for rank in (one, two)]
    return coordinates[0] == coordinates[1]


def _broken(place: Place, scene: Scene, rank: int) -> Iterator[Fault]:
    """NaN or infinity in inputs or expected outputs; counts that do not fit."""
    family = scene.family
    for name, tensor in scene.inputs[rank].tensors.items():
        if not is_finite(tensor):
            text = f"'{name}' of rank {rank} has NaN or infinite elements in family '{family}': "
            yield fault_at(place, "inputs", name, text + "draw finite numbers")
    for q, scalars in enumerate(draw.scalars for draw in scene.inputs):
        if scalars != scene.inputs[0].scalars:
            text = f"the scalars differ between ranks 0 and {q}: draw them with ctx.shared_rng()"
            yield fault_at(place, "inputs", "scalars", text)
            return
    expected = scene.expect(rank)
    for argument in place.problem.outputs:
        value = expected.get(argument.name)
        if value is None:
            continue
        if argument.check_in(family) != "none" and not is_finite(value):
            text = f"the oracle expects NaN or infinite elements in '{argument.name}' of rank "
            text += f"{rank} in family '{family}': draw inputs that stay in range"
            yield fault_at(place, "inputs", argument.name, text)
        if argument.count in expected and int(expected[argument.count]) != value.shape[0]:
            text = (
                f"the oracle gives {value.shape[0]} rows of '{argument.name}' on rank {rank} but "
            )
            text += f"{int(expected[argument.count])} in '{argument.count}': let them agree"
            yield fault_at(place, "inputs", argument.name, text)


def is_finite(tensor: torch.Tensor) -> bool:
    if tensor.dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        tensor = tensor.float()
    return bool(torch.isfinite(tensor).all())
