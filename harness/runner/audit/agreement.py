# SPDX-License-Identifier: Apache-2.0
"""Reference and oracle agree, and honest programs that round elsewhere are taken: the other side of
what stubs prove."""

from collections.abc import Iterator

import torch

from harness.runner.audit.arithmetic import ARITHMETICS
from harness.runner.audit.fault import Fault, fault_at
from harness.runner.audit.scene import Place, Scene, as_output, run_reference, same_bits
from harness.runner.audit.world import Rank
from harness.runner.case import Tensors
from harness.runner.compare import REFERENCE_FACTOR, compare

LINEAR = 1e-9  # of the output's RMS: the ranks' contributions add up to the output


def check_agreement(me: Rank, place: Place, scenes: list[Scene]) -> list[Fault]:
    """Faults seen on one rank; collective. The first scene of a family is also run twice, and its
    oracle in other arithmetics."""
    faults, seen = [], set()
    for scene in scenes:
        outputs = run_reference(me, scene)
        faults += _missed(place, scene, me.rank, outputs)
        is_first = scene.family not in seen
        seen.add(scene.family)
        if is_first and place.problem.deterministic:
            faults += _restless(place, me.rank, outputs, run_reference(me, scene))
        if is_first or decides(place):
            faults += _refused(place, scene, me.rank, outputs)
    return faults


def decides(place: Place) -> bool:
    """Whether float inputs lead to outputs that are compared exactly."""
    wide = {"bf16", "f16", "f32", "c64"}
    arguments = place.problem.arguments
    return any(a.is_input and a.dtype in wide for a in arguments) and any(
        a.check.get("default") in ("exact", "quantized") for a in place.problem.outputs
    )


def _missed(place: Place, scene: Scene, rank: int, outputs: Tensors) -> Iterator[Fault]:
    expected = scene.expect(rank)
    # Outside nominal inputs a few elements may carry the norm: a judge scales with the reference.
    factor = 1 if scene.family == "nominal" else REFERENCE_FACTOR
    for name, output in outputs.items():
        argument, allowed = place.problem.argument(name), place.tolerance(name).times(factor)
        wrong = compare(argument, scene.family, output, expected, allowed)
        if wrong is not None:
            text = f"the reference's '{name}' of rank {rank} is not what the oracle says in family "
            text += f"'{scene.family}': {wrong}. One of the two is wrong, or the tolerance too "
            text += "narrow (pkbench audit --calibrate)"
            yield fault_at(place, "reference", name, text)


def _restless(place: Place, rank: int, once: Tensors, again: Tensors) -> Iterator[Fault]:
    for name in once:
        if not same_bits(once[name], again[name]):
            text = f"the reference's '{name}' of rank {rank} differs between two calls, but the "
            text += 'problem file says "deterministic": true: say false, or mend the reference'
            yield fault_at(place, "reference", name, text)


# ---- honest programs ----


def _refused(place: Place, scene: Scene, rank: int, reference: Tensors) -> Iterator[Fault]:
    expected = scene.expect(rank)
    for how, answer in honest_answers(place, scene, rank).items():
        for name, output in answer.items():
            argument = place.problem.argument(name)
            if output.shape == expected[name].shape:
                allowed = place.tolerance(name)
                wrong = compare(argument, scene.family, output, expected, allowed, reference[name])
                wrong = str(wrong) if wrong else ""
            else:
                wrong = f"{len(output)} rows instead of {len(expected[name])}"
            if wrong:
                text = f"a judge would not take '{name}' of rank {rank} computed {how} in family "
                text += f"'{scene.family}' ({wrong}): keep decisions away from their edges in "
                text += "make_inputs, fix a rule for ties, or widen the tolerance"
                yield fault_at(place, "honest", name, text)


def honest_answers(
    place: Place, scene: Scene, rank: int, with_sums: bool = True
) -> dict[str, Tensors]:
    """What honest programs give on one rank, by how they compute; those that sum over the ranks
    only `with_sums`."""
    found = {}
    if not any(a.is_input and a.dtype == "f64" for a in place.problem.arguments):
        for how, arithmetic in ARITHMETICS.items():
            try:
                with arithmetic():
                    found[how] = scene.answer(rank)
            except (RuntimeError, TypeError):
                continue  # an oracle need not run in other arithmetic than its own
    sums = contributions(place, scene, rank) if with_sums else {}
    for name, parts in sums.items():
        found.setdefault("in a chain of ranks", {})[name] = in_a_chain(parts)
        found.setdefault("in a tree of ranks", {})[name] = in_a_tree(parts)
    return found


def contributions(place: Place, scene: Scene, rank: int) -> dict[str, list[torch.Tensor]]:
    """Of outputs that are a sum over the ranks: what each contributes, rounded to the output's
    dtype as a program would send it."""
    expected = scene.expect(rank)
    names = [
        a.name
        for a in place.problem.outputs
        if a.name in expected
        and "float" in a.check.values()
        and not a.count
        and a.dtype in ("bf16", "f16", "f32")
        and expected[a.name].numel()
    ]
    parts: dict[str, list[torch.Tensor]] = {name: [] for name in names}
    for src in range(scene.world) if names else ():
        inputs = [draw if q == src else scene.blank(q) for q, draw in enumerate(scene.inputs)]
        try:
            alone = scene.expect(rank, inputs)
        except Exception:
            return {}  # blank inputs mean nothing here
        for name in names:
            parts[name].append(alone[name])
        if not any(alone[name].any() for name in names) and src == 0:
            return {}
    return {
        name: [as_output(place.problem.argument(name), part) for part in parts[name]]
        for name in names
        if _adds_up(parts[name], expected[name])
    }


def _adds_up(parts: list[torch.Tensor], whole: torch.Tensor) -> bool:
    scale = float(whole.abs().square().mean().sqrt())
    if not all(part.any() for part in parts):
        return False  # not every rank contributes: nothing is summed in a chain
    return scale > 0 and float((sum(parts) - whole).abs().max()) <= LINEAR * scale


def in_a_chain(parts: list[torch.Tensor]) -> torch.Tensor:
    """From the last rank to the first, rounded after each."""
    total = parts[-1]
    for part in reversed(parts[:-1]):
        total = total + part
    return total


def in_a_tree(parts: list[torch.Tensor]) -> torch.Tensor:
    while len(parts) > 1:
        odd = parts[len(parts) // 2 * 2 :]
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [*(one + two for one, two in pairs), *odd]
    return parts[0]
