# SPDX-License-Identifier: Apache-2.0
"""Deal out the slices of one rank's tensor."""

import torch
import torch.distributed as dist


def make_inputs(ctx):
    """x (P, M, N) bf16 on the root; the other ranks have no input."""
    if ctx.rank != ctx.dims.root:
        return {}
    shape = (ctx.world, ctx.dims.M, ctx.dims.N)
    x = torch.randn(shape, generator=ctx.rng, device=ctx.device)
    if ctx.family == "tiny":  # around the smallest normal number: half of them are subnormal
        x = x * 2.0**-127
    elif ctx.family == "huge":
        x = x * 2.0**124
    return {"x": x.to(torch.bfloat16)}


def reference(ctx, x=None):
    y = ctx.out("y")
    slices = None if x is None else list(x.unbind(0))
    dist.scatter(y, slices, src=ctx.dims.root, group=ctx.group())
    return {"y": y}


def oracle(ctx, inputs_of_all_ranks):
    return {"y": inputs_of_all_ranks[ctx.dims.root]["x"][ctx.rank].double()}
