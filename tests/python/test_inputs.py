# SPDX-License-Identifier: Apache-2.0
"""Inputs: reproducible, independent, and such that no problem can be passed by guessing."""

import itertools

import pytest
import torch

from harness.runner.case import Case, Draw
from harness.runner.memory import TORCH_DTYPES
from harness.runner.problem import Problem, ProblemError, find, load
from harness.runner.resolve import resolve_size
from tests.python.conftest import tiny_cases
from tests.python.metrics import bound, is_right, moved, same_bits
from tests.python.world import blank, make_case

ATTEMPTS = 5  # other draws, of which one must move an expected output


def is_fixed(problem: Problem, name: str) -> bool:
    """Whether it is a host array whose contents are no data."""
    argument = problem.argument(name)
    return argument.role == "host" and not argument.drawn


def tensors(problem: Problem, draw: Draw) -> torch.Tensor:
    """All bytes of a draw in one tensor, but for those that are the same in every draw."""
    parts = [
        tensor.reshape(-1).view(torch.uint8)
        for name, tensor in draw.tensors.items()
        if not is_fixed(problem, name)
    ]
    return torch.cat(parts) if parts else torch.empty(0, dtype=torch.uint8)


def drawn(case: Case, rank: int, trial: int = 0, family: str = "nominal") -> Draw:
    return case.draw(rank, case.seed(trial, family))


def expect(case: Case, inputs: list[Draw], rank: int) -> dict[str, torch.Tensor]:
    seed = case.seed(0, "nominal")
    resolved = case.resolve(seed)
    return case.run_oracle(case.context(resolved, rank, seed), resolved, inputs)


@pytest.mark.parametrize(("problem", "size", "world", "shape"), tiny_cases((2, 4)))
class TestDraws:
    def test_same_seed_same_inputs(self, problem, size, world, shape):
        case, again = (make_case(problem, size, world, "secret", shape) for _ in range(2))
        later = [tensors(problem, drawn(again, rank)) for rank in reversed(range(world))]
        for rank in range(world):
            assert torch.equal(tensors(problem, drawn(case, rank)), later[world - 1 - rank])

    def test_trial_secret_family_and_rank_change_inputs(self, problem, size, world, shape):
        case, other = (make_case(problem, size, world, secret, shape) for secret in "ab")
        for rank in range(world):
            draws = [drawn(case, rank), drawn(case, rank, trial=1), drawn(other, rank)]
            draws += [drawn(case, rank, 0, family) for family in problem.families[1:]]
            draws += [drawn(case, q) for q in range(world) if q != rank]
            draws = [tensors(problem, draw) for draw in draws]
            for one, two in itertools.combinations(draws, 2):
                assert not torch.equal(one, two) or len(one) == 0

    def test_scalars_are_equal_on_all_ranks(self, problem, size, world, shape):
        case = make_case(problem, size, world, "secret", shape)
        assert len({str(drawn(case, rank).scalars) for rank in range(world)}) == 1

    def test_host_arrays_that_are_not_drawn_are_constant(self, problem, size, world, shape):
        """Set-up sees them before there is data."""
        case, other = (make_case(problem, size, world, secret, shape) for secret in "ab")
        fixed = [a.name for a in problem.arguments if a.role == "host" and not a.drawn]
        for name in fixed:
            for rank in range(world):
                assert same_bits(drawn(case, rank)[name], drawn(other, rank, trial=1)[name])

    def test_every_rank_and_argument_matters(self, problem, size, world, shape):
        case = make_case(problem, size, world, "secret", shape)
        inputs = [drawn(case, rank) for rank in range(world)]
        before = [expect(case, inputs, rank) for rank in range(world)]
        for src in range(world):
            for name, tensor in inputs[src].tensors.items():
                if tensor.numel() > 0 and not is_fixed(problem, name):
                    check_influence(case, inputs, before, src, name)

    def test_stubs_fail(self, problem, size, world, shape):
        case = make_case(problem, size, world, "secret", shape)
        inputs = [drawn(case, rank) for rank in range(world)]
        expected = [expect(case, inputs, rank) for rank in range(world)]
        if not any(tensors(problem, draw).numel() for draw in inputs):
            return  # nothing goes in: any output is right
        answers = {}
        for rank in range(world):
            for name, answer in stubs(case, inputs, expected[rank], rank).items():
                answers.setdefault(name, []).append(answer)
        for name, by_rank in answers.items():
            assert not is_accepted(case, by_rank, expected), f"'{name}' passes"


def check_influence(case: Case, inputs: list[Draw], before: list, src: int, name: str) -> None:
    """Other values of one argument on rank `src` must move every output that may depend on it."""
    waiting = {
        (rank, output)
        for rank in range(case.resolved.world)
        for output, value in before[rank].items()
        if value.numel() > 0 and not is_insensitive(case, output, name, src, rank)
    }
    for attempt in range(ATTEMPTS):
        changed = list(inputs)
        changed[src] = mixed(case, inputs[src], drawn(case, src, trial=100 + attempt), src, name)
        after = {rank: expect(case, changed, rank) for rank in {rank for rank, _ in waiting}}
        for rank, output in list(waiting):
            check = case.problem.argument(output).check_in("nominal")
            tolerance = case.problem.tolerance_of(output, "cpu")
            if moved(before[rank][output], after[rank][output], check, tolerance):
                waiting.remove((rank, output))
        if not waiting:
            return
    raise AssertionError(f"'{name}' of rank {src} does not influence {sorted(waiting)}")


def mixed(case: Case, own: Draw, other: Draw, rank: int, name: str) -> Draw:
    """`own` with one argument of `other`, and the drawn dims that it decides. What has another
    shape then is cut or repeated."""
    deciders = case.problem.deciders
    dims = {dim: (other if deciders.get(dim) == name else own).dims[dim] for dim in own.dims}
    base = case.resolved
    drawn_dims = {
        dim: [value if q == rank else most for q, most in enumerate(base.dims[dim])]
        for dim, value in dims.items()
    }
    resolved = resolve_size(base.problem, base.size, base.world, base.grid, drawn_dims)
    tensors = {**own.tensors, name: other.tensors[name]}
    for key, tensor in tensors.items():
        shape = resolved.shape(case.problem.argument(key), rank)
        if list(tensor.shape) != shape:
            tensors[key] = fitted(tensor, torch.empty(shape, dtype=tensor.dtype))
    return Draw(tensors, own.scalars, dims)


def is_insensitive(case: Case, output: str, name: str, src: int, rank: int) -> bool:
    return any(
        entry["output"] == output
        and entry.get("argument", name) == name
        and case.resolved.evaluate(entry["when"], rank, src=src)
        for entry in case.problem.insensitive
    )


def stubs(case: Case, inputs: list[Draw], expected: dict, rank: int) -> dict[str, dict]:
    """What a program that does not do the work might answer on one rank, by kind."""
    world = case.resolved.world
    own = inputs[rank]
    alone = [own if q == rank else blank(inputs[q]) for q in range(world)]
    answers = {
        "zeros": {k: torch.zeros_like(v) for k, v in expected.items()},
        "constant": {k: torch.ones_like(v) for k, v in expected.items()},
        "mean": {
            k: torch.full_like(v, v.double().sum() / max(1, v.numel())) for k, v in expected.items()
        },
        "local only": expect(case, alone, rank),
    }
    for skipped in range(world):
        if tensors(case.problem, inputs[skipped]).any():
            kept = [blank(d) if q == skipped else d for q, d in enumerate(inputs)]
            answers[f"without rank {skipped}"] = expect(case, kept, rank)
    shapes = {str({k: t.shape for k, t in draw.tensors.items()}) for draw in inputs}
    if len(shapes) == 1:
        answers["all like me"] = expect(case, [own] * world, rank)
    for name in {name for draw in inputs for name in draw.tensors}:
        mine = own.tensors.get(name, torch.empty(0))  # a rank may lack it
        answers[f"copy of {name}"] = {
            k: fitted(mine, v) if mine.numel() else torch.zeros_like(v) for k, v in expected.items()
        }
    return answers


def fitted(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The elements of `tensor` from the start, over and over, in the form of `like`."""
    if tensor.numel() == 0:
        return torch.zeros_like(like)
    flat = tensor.reshape(-1).to(like.dtype)
    copies = -(-like.numel() // flat.numel())
    return flat.repeat(copies)[: like.numel()].view(like.shape)


def is_accepted(case: Case, answers: list[dict], expected: list[dict]) -> bool:
    """Whether a judge takes the answers of all ranks, with the widest bounds that it may use."""
    for answer, wanted in zip(answers, expected, strict=True):
        for name, value in wanted.items():
            argument = case.problem.argument(name)
            check, tolerance = argument.check_in("nominal"), case.problem.tolerance_of(name, "cpu")
            output = answer[name].to(TORCH_DTYPES[argument.dtype])
            allowed = bound(tolerance).times(4) if check == "float" else None
            if not is_right(output, value, check, allowed):
                return False
    return True


def test_shared_generators(everything):
    """Ranks of one coordinate share; the others, and other trials, do not."""
    case = make_case(everything, "tiny", 4, "secret", "cp2xtp2")
    w = [drawn(case, rank)["w"] for rank in range(4)]
    assert same_bits(w[0], w[1])
    assert same_bits(w[2], w[3])
    assert not same_bits(w[0], w[2])
    assert not same_bits(w[0], drawn(case, 0, trial=1)["w"])


def test_dims_of_other_ranks_leave_out_what_is_data(everything):
    case = make_case(everything, "tiny", 4, "secret", "cp2xtp2")
    context = case.context(case.resolved, 0, case.seed(0, "nominal"))
    assert vars(context.dims_of(3)) == {"cap": 9, "N": 5, "lists": 36}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": None}, "did not return 'A' on rank 1"),
        ({"Z": torch.zeros(1)}, "returned 'Z', which is no input"),
        ({"A": torch.zeros(37, 23)}, r"'A' as torch.float32 \[37, 23\]; .* bf16 \[37, 23\]"),
        ({"A": torch.zeros(23, 37).bfloat16()}, r"\[23, 37\]; .* bf16 \[37, 23\]"),
    ],
)
def test_wrong_make_inputs_is_named(change, message):
    case = make_case(load(find("13")), "tiny", 2, "secret")
    honest = case.module.make_inputs

    def wrong(ctx):
        mixed = {**honest(ctx), **change}
        return {name: value for name, value in mixed.items() if value is not None}

    case.module.make_inputs = wrong
    with pytest.raises(ProblemError, match=message):
        drawn(case, 1)


def test_oracle_must_be_exact_and_complete():
    case = make_case(load(find("1")), "tiny", 2, "secret")
    inputs = [drawn(case, rank) for rank in range(2)]
    for result, message in (
        ({"y": torch.zeros(37, 29)}, "has to be torch.float64"),
        ({"y": torch.zeros(29, 37).double()}, r"shape \[29, 37\], not \[37, 29\]"),
        ({}, "did not return 'y'"),
        ({"y": torch.zeros(37, 29).double(), "z": 1}, "returned 'z'"),
    ):
        case.module.oracle = lambda ctx, inputs, result=result: result
        with pytest.raises(ProblemError, match=message):
            expect(case, inputs, 0)


def test_make_inputs_cannot_communicate():
    case = make_case(load(find("1")), "tiny", 2, "secret")
    case.module.make_inputs = lambda ctx: {"x": ctx.group()}
    with pytest.raises(ProblemError, match="must not communicate"):
        drawn(case, 0)
