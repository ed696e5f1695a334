# SPDX-License-Identifier: Apache-2.0
"""Stack every rank's tensor on all ranks."""

import torch
import torch.distributed as dist


def make_inputs(ctx):
    """x (M, N) bf16, every rank's own draw."""
    x = torch.randn((ctx.dims.M, ctx.dims.N), generator=ctx.rng, device=ctx.device)
    if ctx.family == "tiny":  # around the smallest normal number: half of them are subnormal
        x = x * 2.0**-127
    elif ctx.family == "huge":
        x = x * 2.0**124
    return {"x": x.to(torch.bfloat16)}


def reference(ctx, x):
    y = ctx.out("y")
    dist.all_gather_into_tensor(y.flatten(0, 1), x, group=ctx.group())
    return {"y": y}


def oracle(ctx, inputs_of_all_ranks):
    return {"y": torch.stack([inputs["x"].double() for inputs in inputs_of_all_ranks])}
