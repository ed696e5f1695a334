# SPDX-License-Identifier: Apache-2.0
"""Token counts for expert-parallel dispatch."""

import torch
import torch.distributed as dist


def make_inputs(ctx):
    """choice (M, k) i32: skewed, another skew on every rank, some experts chosen by nobody."""
    M, k, E, L = ctx.dims.M, ctx.dims.k, ctx.dims.E, ctx.dims.L
    shared = ctx.shared_rng()
    weight = torch.exp(1.5 * torch.randn(E, generator=ctx.rng, device=ctx.device))
    order = torch.randperm(E, generator=shared, device=ctx.device)
    weight[order[: E // 4]] = 0
    if ctx.family == "ragged":  # nine of ten choices fall on one expert
        weight[order[-1]] = 9 * weight.sum()
    elif ctx.family == "empty":  # only one rank's experts are chosen at all
        weight = weight + 1
        weight[torch.arange(E, device=ctx.device) // L != order[0] // L] = 0
    edges = torch.cumsum(weight.double(), 0)
    draw = torch.rand(M * k, generator=ctx.rng, device=ctx.device, dtype=torch.float64)
    choice = torch.searchsorted(edges, draw * edges[-1], right=True, out_int32=True)
    return {"choice": choice.clamp_(max=E - 1).view(M, k)}


def reference(ctx, choice):
    E, L = ctx.dims.E, ctx.dims.L
    counts = torch.zeros(E, dtype=torch.int64, device=choice.device)
    one = torch.ones(1, dtype=torch.int64, device=choice.device)
    counts.index_add_(0, choice.flatten(), one.expand(choice.numel()))

    everyones = torch.empty(ctx.world * E, dtype=torch.int64, device=choice.device)
    dist.all_gather_into_tensor(everyones, counts, group=ctx.group("ep"))

    first = ctx.rank * L
    mine = ctx.out("mine")
    mine.copy_(everyones.view(ctx.world, E)[:, first : first + L])
    send = torch.sum(counts.view(ctx.world, L), 1, out=ctx.out("send"))
    recv = torch.sum(mine, 1, out=ctx.out("recv"))
    tot = torch.sum(mine, 0, out=ctx.out("tot"))
    return {"send": send, "recv": recv, "mine": mine, "tot": tot}


def oracle(ctx, inputs_of_all_ranks):
    E, L = ctx.dims.E, ctx.dims.L
    count = torch.stack(
        [torch.bincount(inputs["choice"].flatten(), minlength=E) for inputs in inputs_of_all_ranks]
    )
    mine = count[:, ctx.rank * L : (ctx.rank + 1) * L]
    send = count[ctx.rank].view(ctx.world, L).sum(1)
    return {"send": send, "recv": mine.sum(1), "mine": mine, "tot": mine.sum(0)}
