# SPDX-License-Identifier: Apache-2.0
"""Audits one place: what each rank of a world looks at, and what follows from all of them."""

import traceback
from dataclasses import dataclass

from harness.runner.audit.agreement import check_agreement
from harness.runner.audit.fault import Fault, fault_at
from harness.runner.audit.influence import check_influence
from harness.runner.audit.inputs import check_inputs, digests
from harness.runner.audit.scene import Place, Scene
from harness.runner.audit.stubs import accepted_stubs
from harness.runner.audit.world import Rank, WorldFault, Worlds


@dataclass(frozen=True)
class Look:
    """What one rank found without talking to the others."""

    faults: list[Fault]
    digests: list[str]
    stubs: dict[str, bool]


class _Stage:
    """A place's scenes, drawn once and used by all checks of this process."""

    def __init__(self, place: Place, seeds: int):
        self.place = place
        self.seeds = seeds
        self.cases = [place.case(f"audit {number}") for number in range(seeds)]
        self.families = ["nominal", *(f for f in place.problem.families if f != "nominal")]
        self._scenes: dict[tuple[str, int], Scene] = {}

    def scene(self, family: str, number: int = 0) -> Scene:
        """The draw of a family with one of the secrets."""
        key = (family, number)
        if key not in self._scenes:
            self._scenes[key] = Scene(self.cases[number], 0, family)
        return self._scenes[key]

    def of_family(self, family: str) -> list[Scene]:
        return [self.scene(family, number) for number in range(self.seeds)]


_last: _Stage | None = None


def _stage(place: Place, seeds: int) -> _Stage:
    global _last
    if _last is None or (_last.place, _last.seeds) != (place, seeds):
        _last = _Stage(place, seeds)
    return _last


def look(me: Rank, place: Place, seeds: int) -> Look:
    """Inputs, influence and stubs as seen by one rank; not collective."""
    try:
        stage = _stage(place, seeds)
        nominal = stage.of_family("nominal")
        scenes = [*nominal, *(stage.scene(family) for family in stage.families[1:])]
        faults = check_inputs(place, stage.cases, scenes, me.rank)
        faults += check_influence(place, stage.scene, me.rank)
        stubs = accepted_stubs(place, nominal, me.rank)
        return Look(faults, digests(nominal[0]), stubs)
    except Exception:
        return Look([_error(place, traceback.format_exc())], [], {})


def agree(me: Rank, place: Place, seeds: int) -> list[Fault]:
    """Reference against oracle; collective."""
    stage = _stage(place, seeds)
    scenes = [scene for family in stage.families for scene in stage.of_family(family)]
    return check_agreement(me, place, scenes)


def examine(place: Place, worlds: Worlds, seeds: int) -> list[Fault]:
    """All faults of a place."""
    try:
        looks = worlds(place.world).run(look, place, seeds)
        faults = [fault for one in looks for fault in one.faults]
        if any(fault.kind == "error" for fault in faults):
            return faults[:1]
        faults += _irreproducible(place, looks)
        faults += _passing_stubs(place, looks)
        found = worlds(place.world).run(agree, place, seeds)
        return faults + [fault for one in found for fault in one]
    except WorldFault as fault:
        return [_error(place, str(fault))]


def _irreproducible(place: Place, looks: list[Look]) -> list[Fault]:
    faults = []
    for rank in range(place.world):
        if len({one.digests[rank] for one in looks}) > 1:
            text = f"two processes draw other inputs for rank {rank} from the same seed: use no "
            text += "randomness but ctx.rng and ctx.shared_rng(), and no global state"
            faults.append(fault_at(place, "inputs", "seed", text))
    return faults


def _passing_stubs(place: Place, looks: list[Look]) -> list[Fault]:
    faults = []
    for name in {name: None for one in looks for name in one.stubs}:
        if all(one.stubs.get(name, True) for one in looks):
            text = f"a program that does not do the work passes: {name}. Narrow the tolerance, or "
            text += "let make_inputs draw what tells it from the right answer"
            faults.append(fault_at(place, "stub", name, text))
    return faults


def _error(place: Place, trace: str) -> Fault:
    """An exception in one sentence: the last line and the line of the reference file."""
    lines = [line.strip() for line in trace.strip().splitlines()]
    at = [line for line in lines if line.startswith("File") and "/references/" in line]
    text = lines[-1] + (f" ({at[-1]})" if at else "")
    return fault_at(place, "error", "error", text)
