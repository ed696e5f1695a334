# SPDX-License-Identifier: Apache-2.0
"""Matrix product whose partial results are summed over the ranks."""

import math

import torch
import torch.distributed as dist


def make_inputs(ctx):
    """A (M, K) and B (K, N) bf16, every rank's own shards."""
    M, N, K = ctx.dims.M, ctx.dims.N, ctx.dims.K

    def normal(*shape):
        return torch.randn(shape, generator=ctx.rng, device=ctx.device)

    def sparse_signs(*shape):
        # -1, 0 and 1, as dense as keeps the sums within 256: their deviation is at most 32.
        density = min(0.75, 32 / math.sqrt(K * ctx.world))
        keep = torch.rand(shape, generator=ctx.rng, device=ctx.device) < density
        return torch.sign(normal(*shape)) * keep

    def powers(*shape):
        exponent = torch.randint(-7, 1, shape, generator=ctx.rng, device=ctx.device)
        return torch.ldexp(torch.sign(normal(*shape)), exponent)

    if ctx.family == "pick":
        # One element of B comes out in each of C, of 8 bits with a sign and a power of two of its
        # own: no format of 8 bits holds them, whatever factors rows and columns have. A column of
        # C is one rank's, nothing comes from the others.
        draw, device = torch.randint, ctx.device
        picked = draw(2**31, (M, 1), generator=ctx.rng, device=device) % K
        owner = draw(ctx.world, (N,), generator=ctx.shared_rng(), device=device)
        is_mine = owner == ctx.rank
        A = powers(M, K) * (torch.arange(K, device=device) == picked)
        B = powers(K, N) * draw(128, 256, (K, N), generator=ctx.rng, device=device) * is_mine
        return {"A": A.bfloat16(), "B": B.bfloat16()}
    if ctx.family == "integers":
        # Each row and each column has a unit of its own, the same on all ranks: formats with a
        # factor a block lose the small ones.
        shared = ctx.shared_rng()
        of_row, of_column = (
            torch.randint(-10, 11, shape, generator=shared, device=ctx.device)
            for shape in ((M, 1), (N,))
        )
        A = torch.ldexp(sparse_signs(M, K), of_row)
        B = torch.ldexp(sparse_signs(K, N), of_column)
        return {"A": A.bfloat16(), "B": B.bfloat16()}
    A, B = normal(M, K), normal(K, N) / math.sqrt(K * ctx.world)
    if ctx.family == "tiny":
        A, B = A * 1e-15, B * 1e-15
    elif ctx.family == "huge":
        A, B = A * 1e15, B * 1e15
    elif ctx.family == "offset":
        A = A + 1
    elif ctx.family == "outliers":
        rare = torch.rand((M, K), generator=ctx.rng, device=ctx.device) < 0.05
        A = torch.where(rare, 20 * A, A)
    return {"A": A.bfloat16(), "B": B.bfloat16()}


def reference(ctx, A, B):
    C = ctx.out("C")
    torch.matmul(A, B, out=C)
    dist.all_reduce(C, group=ctx.group("tp"))
    return {"C": C}


def oracle(ctx, inputs_of_all_ranks):
    return {"C": sum(shard["A"].double() @ shard["B"].double() for shard in inputs_of_all_ranks)}
