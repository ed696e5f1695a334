# SPDX-License-Identifier: Apache-2.0
"""Transpose of blocks over the ranks."""

import torch
import torch.distributed as dist


def make_inputs(ctx):
    """x (P, M, N) bf16, every rank's own draw; block d is for rank d."""
    shape = (ctx.world, ctx.dims.M, ctx.dims.N)
    x = torch.randn(shape, generator=ctx.rng, device=ctx.device)
    if ctx.family == "tiny":  # around the smallest normal number: half of them are subnormal
        x = x * 2.0**-127
    elif ctx.family == "huge":
        x = x * 2.0**124
    return {"x": x.to(torch.bfloat16)}


def reference(ctx, x):
    y = ctx.out("y")
    dist.all_to_all_single(y, x, group=ctx.group())
    return {"y": y}


def oracle(ctx, inputs_of_all_ranks):
    blocks = [inputs["x"][ctx.rank] for inputs in inputs_of_all_ranks]
    return {"y": torch.stack(blocks).double()}
