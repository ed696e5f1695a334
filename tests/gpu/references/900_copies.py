# SPDX-License-Identifier: Apache-2.0
"""Copies, by the same call of the CUDA runtime as tests/gpu/attempts/900_copies.cu makes."""

import torch


def make_inputs(ctx):
    x = torch.randn(ctx.dims.N, generator=ctx.rng, device=ctx.device)
    return {"x": x.to(torch.bfloat16)}


def reference(ctx, x):
    y = ctx.out("y")
    to = y if ctx.dims.K > 0 else torch.empty_like(x)
    for _ in range(ctx.dims.COPIES):
        to.copy_(x[: to.numel()])
    return {"y": y}


def oracle(ctx, inputs_of_all_ranks):
    return {"y": inputs_of_all_ranks[ctx.rank]["x"][: ctx.dims.K]}
