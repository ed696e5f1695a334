# SPDX-License-Identifier: Apache-2.0
"""A problem for tests that uses every feature of the format."""

import itertools

import torch
import torch.distributed as dist


def make_inputs(ctx):
    N, cap, lists = ctx.dims.N, ctx.dims.cap, ctx.dims.lists
    n = int(torch.randint(0, cap - ctx.rank % 2 + 1, (), generator=ctx.rng))
    inner = torch.randint(0, lists + 1, (ctx.world - 1,), generator=ctx.rng).sort().values
    inputs = {
        "n": n,
        "x": torch.randn(n, N, generator=ctx.rng),
        "parts": torch.randn(lists, generator=ctx.rng, dtype=torch.float64),
        "cuts": torch.cat([torch.zeros(1), inner, torch.full((1,), lists)]).long(),
        "w": torch.randn(N, generator=ctx.shared_rng("cp")),
        "alpha": float(torch.rand((), generator=ctx.shared_rng())),
        "step": 7,
    }
    if ctx.rank == 0:
        inputs["start"] = torch.randn(N, generator=ctx.rng).half()
    return inputs


def reference(ctx, x, parts, cuts, w, alpha, step, start=None):
    N = ctx.dims.N
    sizes = [None] * ctx.world
    dist.all_gather_object(sizes, len(x), group=ctx.group())
    every = [torch.empty(size, N) for size in sizes]
    padded = [torch.zeros(ctx.dims.cap, N) for _ in sizes]
    own = torch.zeros(ctx.dims.cap, N)
    own[: len(x)] = x
    dist.all_gather(padded, own)
    every = torch.cat([rows[:size] for rows, size in zip(padded, sizes, strict=True)])
    kept = every[every[:, 0] > 0]
    ctx.out("kept_count").fill_(len(kept))

    w.mul_(alpha).add_(step)
    dist.all_reduce(w, group=ctx.group("tp"))

    begun = torch.zeros(N, dtype=torch.float16) if start is None else start.clone()
    dist.broadcast(begun, 0)
    ctx.out("flags").copy_(begun > 0)
    ctx.out("code").copy_(begun.float())
    ctx.out("wave").copy_(torch.complex(begun.float(), w))

    sums = torch.stack([parts[a:b].sum() for a, b in itertools.pairwise(cuts)])
    dist.all_reduce(sums)
    results = {name: ctx.out(name) for name in ("kept_count", "flags", "code", "wave")}
    if ctx.rank == 0:
        results["on_root"] = ctx.out("on_root").copy_(sums.sum().expand(N))
    return {**results, "kept": kept, "w": w}


def oracle(ctx, inputs_of_all_ranks):
    N = ctx.dims.N
    every = torch.cat([inputs["x"] for inputs in inputs_of_all_ranks])
    kept = every[every[:, 0] > 0]
    mine = inputs_of_all_ranks[ctx.rank]
    tp = [q for q in range(ctx.world) if q // ctx.grid["tp"] == ctx.rank // ctx.grid["tp"]]
    w = sum(
        inputs_of_all_ranks[q]["w"].double() * mine["alpha"] + mine["step"] for q in tp
    )  # the ranks of a tp group hold the same w
    start = inputs_of_all_ranks[0]["start"]
    code = start.float().to(torch.float8_e4m3fn)
    expected = {
        "kept": kept.double(),
        "kept_count": torch.tensor(len(kept)),
        "w": w,
        "flags": start > 0,
        "code": code,
        "code_alt": code,
        "wave": torch.complex(start.double(), w),
    }
    if ctx.rank == 0:
        total = sum(inputs["parts"].sum() for inputs in inputs_of_all_ranks)
        expected["on_root"] = total.expand(N)
    return expected
