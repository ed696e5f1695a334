# SPDX-License-Identifier: Apache-2.0
"""Sum over all ranks, of which every rank keeps one slice."""

import torch
import torch.distributed as dist


def make_inputs(ctx):
    """x (P * M, N) bf16, every rank's own draw."""
    shape = (ctx.world * ctx.dims.M, ctx.dims.N)
    if ctx.family == "integers":
        # Sums of all ranks stay within +-256 units, which bfloat16 holds whatever the order. Each
        # element has a unit of its own: formats with a factor a block lose the small ones. Half
        # of them come from one rank alone, with all the bits that bfloat16 has.
        limit = max(1, 256 // ctx.world)
        shared = ctx.shared_rng()
        x = torch.randint(1, limit + 1, shape, generator=ctx.rng, device=ctx.device)
        whole = torch.randint(128, 256, shape, generator=ctx.rng, device=ctx.device)
        owner = torch.randint(0, 2 * ctx.world, shape, generator=shared, device=ctx.device)
        x = torch.where(owner < ctx.world, whole * (owner == ctx.rank), x)
        sign = 2 * torch.randint(0, 2, shape, generator=ctx.rng, device=ctx.device) - 1
        unit = torch.randint(-20, 21, shape, generator=shared, device=ctx.device)
        return {"x": torch.ldexp((sign * x).float(), unit).to(torch.bfloat16)}
    x = torch.randn(shape, generator=ctx.rng, device=ctx.device)
    if ctx.family == "tiny":
        x = x * 1e-30
    elif ctx.family == "huge":
        x = x * 1e30
    elif ctx.family == "offset":
        x = x + 3
    elif ctx.family == "outliers":
        rare = torch.rand(shape, generator=ctx.rng, device=ctx.device) < 0.05
        x = torch.where(rare, 20 * x, x)
    return {"x": x.to(torch.bfloat16)}


def reference(ctx, x):
    y = ctx.out("y")
    dist.reduce_scatter_tensor(y, x, group=ctx.group())
    return {"y": y}


def oracle(ctx, inputs_of_all_ranks):
    mine = slice(ctx.rank * ctx.dims.M, (ctx.rank + 1) * ctx.dims.M)
    return {"y": sum(inputs["x"][mine].double() for inputs in inputs_of_all_ranks)}
