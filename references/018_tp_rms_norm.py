# SPDX-License-Identifier: Apache-2.0
"""RMSNorm over a hidden axis that is spread over the ranks."""

import torch
import torch.distributed as dist


def make_inputs(ctx):
    """x (M, N) and w (N) bf16, every rank's own; eps, the same on all ranks."""
    M, N = ctx.dims.M, ctx.dims.N
    eps = 10.0 ** (-6 + 2 * torch.rand((), generator=ctx.shared_rng(), device=ctx.device).item())

    def normal(*shape):
        return torch.randn(shape, generator=ctx.rng, device=ctx.device)

    # Each row of each rank has a size of its own, 1/2 to 2: a rank's mean square is far from the
    # whole row's, and yet every rank's share in it can be seen.
    x = normal(M, N) * 2 ** (2 * torch.rand((M, 1), generator=ctx.rng, device=ctx.device) - 1)
    w = 1 + 0.3 * normal(N)
    if ctx.family == "tiny":  # mean squares about as large as eps
        x = x * 1e-3
    elif ctx.family == "huge":
        x = x * 1e12
    elif ctx.family == "offset":
        x = x + 2
    elif ctx.family == "outliers":  # a channel in 16 dominates, as in trained models
        x = torch.where(torch.rand(N, generator=ctx.rng, device=ctx.device) < 1 / 16, 20 * x, x)
    return {"x": x.bfloat16(), "w": w.bfloat16(), "eps": eps}


def reference(ctx, x, w, eps):
    wide = x.float()
    squares = wide.square().sum(-1, keepdim=True)
    dist.all_reduce(squares, group=ctx.group("tp"))
    normed = wide * torch.rsqrt(squares / ctx.dims.H + eps)
    return {"y": torch.mul(normed.to(x.dtype), w, out=ctx.out("y"))}


def oracle(ctx, inputs_of_all_ranks):
    squares = sum(shard["x"].double().square().sum(-1) for shard in inputs_of_all_ranks)
    mine = inputs_of_all_ranks[ctx.rank]
    scale = torch.rsqrt(squares / ctx.dims.H + mine["eps"])
    return {"y": mine["x"].double() * scale[:, None] * mine["w"].double()}
