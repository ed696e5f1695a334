# SPDX-License-Identifier: Apache-2.0
"""RMSNorm over a hidden axis that is spread over the ranks."""

import torch
import torch.distributed as dist

ROOT = 8  # of a row's mean square, about, in the family `integers`
FILLERS, MOST = 12, 127  # so many integers up to MOST have any sum of squares up to 10^5
CANDIDATES = 1024  # for a row's sum of squares
MARGIN = 2**-16  # least distance of y from where bfloat16 rounds elsewhere; float32 errs by 2^-21


def make_inputs(ctx):
    """x (M, N) and w (N) bf16, every rank's own; eps, the same on all ranks."""
    M, N = ctx.dims.M, ctx.dims.N
    if ctx.family == "integers":
        return exact_inputs(ctx)
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


def exact_inputs(ctx):
    """Rows of integers with a sum of squares, far from any rank's share of it, for which no y is
    close to where bfloat16 rounds elsewhere, times a power of two; and weights that are powers of
    two: y is the same bit by bit as long as sums err by less than MARGIN, and hardly if by more."""
    M, N, device, shared = ctx.dims.M, ctx.dims.N, ctx.device, ctx.shared_rng()
    columns = [ctx.dims_of(q).N for q in range(ctx.world)]
    holders = [q for q, count in enumerate(columns) if count > 0]

    def integers(generator, low, high, *shape):
        return torch.randint(low, high + 1, shape, generator=generator, device=device)

    # What each holder passes on to the next one of a row's sum of squares.
    most = ROOT * ROOT * min(columns[q] for q in holders) // 4
    passed = integers(shared, -most, most, M, len(holders))
    wanted = torch.zeros(M, ctx.world, dtype=torch.int64, device=device)
    wanted[:, holders] = passed.roll(1, 1) - passed
    added = plain_sums(integers(shared, -most, most, CANDIDATES), sum(columns))
    wanted[:, holders[0]] += added[integers(shared, 0, 2**31 - 1, M) % len(added)]
    wanted = wanted[:, ctx.rank] + N * ROOT * ROOT
    exponent = integers(shared, 10, 20, M, 1)  # far beyond eps

    x = torch.randn((M, N), generator=ctx.rng, device=device, dtype=torch.float64)
    fillers = min(FILLERS, N)
    x[:, :fillers] = 0
    size = torch.sqrt(0.95 * wanted / x.square().sum(1).clamp(min=1))
    x = (x * size[:, None]).trunc().clamp(-MOST, MOST)
    for column in range(fillers):
        rest = wanted - x.square().sum(1)
        x[:, column] = rest.sqrt().floor().clamp(max=MOST)
    x = x * (2 * integers(ctx.rng, 0, 1, M, N) - 1)
    x = x[:, torch.randperm(N, generator=ctx.rng, device=device)]
    sign = 2 * integers(ctx.rng, 0, 1, N) - 1
    return {
        "x": torch.ldexp(x, exponent).bfloat16(),
        "w": torch.ldexp(sign.float(), integers(ctx.rng, -1, 1, N)).bfloat16(),
        "eps": 10.0 ** (-6 + 2 * torch.rand((), generator=shared, device=device).item()),
    }


def plain_sums(candidate, H):
    """Of what could be added to a row's sum of squares ROOT^2 H, that after which no integer up to
    MOST, divided by the root of the mean square, is within MARGIN of a tie of bfloat16."""
    candidate = torch.nn.functional.pad(candidate, (1, 0))  # 0 is one: then y is exact
    scale = torch.rsqrt(ROOT * ROOT + candidate.double() / H)
    y = scale[:, None] * torch.arange(1, MOST + 1, device=candidate.device)
    step = 2.0 ** (torch.frexp(y).exponent - 8)  # between neighbours in bfloat16
    to_tie = (torch.frac(y / step) - 0.5).abs() * step
    return candidate[(to_tie > MARGIN * y).all(1)]


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
