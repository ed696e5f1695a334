# SPDX-License-Identifier: Apache-2.0
"""Cross entropy and its gradient with the vocabulary spread over the ranks."""

import math

import torch
import torch.distributed as dist

AT_ONCE = 512  # rows of the whole vocabulary that the oracle holds in float64


def make_inputs(ctx):
    """logits (T, n) bf16, this rank's own; target, dloss and ignore, the same everywhere."""
    T, V, n = ctx.dims.T, ctx.dims.V, ctx.dims.n
    shared, device = ctx.shared_rng(), ctx.device

    def integers(low, high, *shape):
        return torch.randint(low, high, shape, generator=shared, device=device)

    # Likely entries: two on each rank, in different halves of its columns, together as likely as
    # the rest of the vocabulary. Every rank knows them all, for some of them are targets.
    likely = torch.stack(
        [integers(0, n // 2, T, ctx.world), integers(n // 2, n, T, ctx.world)], dim=2
    )
    bonus = torch.randn(likely.shape, generator=shared, device=device) + math.log(V)
    logits = torch.randn((T, n), generator=ctx.rng, device=device)
    logits.scatter_add_(1, likely[:, ctx.rank], bonus[:, ctx.rank])
    owner, distance = integers(0, ctx.world, 1), 60 * torch.rand(1, generator=shared, device=device)
    offset = 30 * torch.randn((T, 1), generator=shared, device=device)
    if ctx.family == "offset":
        logits += offset
    elif ctx.family == "huge":
        logits *= 16
    elif ctx.family == "ties":
        logits = 2 * torch.round(logits / 2)
    elif ctx.family == "far" and ctx.rank != int(owner):
        logits -= distance
    elif ctx.family == "counts":
        is_one = ctx.rank * n + torch.arange(n, device=device)
        is_one = counted(is_one - integers(0, V, T, 1), V, integers)
        below = 900 + 100 * torch.rand((T, n), generator=ctx.rng, device=device)
        logits = offset.bfloat16() - torch.where(is_one, 0, below)

    entries = (likely + n * torch.arange(ctx.world, device=device)[:, None]).view(T, -1)
    chosen = entries.gather(1, integers(0, 2 * ctx.world, T, 1)).squeeze(1)
    target = torch.where(integers(0, 3, T) > 0, chosen, integers(0, V, T))
    if ctx.family == "far":  # all other ranks have only small gradients, which then count
        target = owner * n + target % n
    # Ignored: the entry of padding, or what is no entry.
    ignore = int(integers(-V, V, 1))
    outside = torch.where(integers(0, 2, T) > 0, integers(-V, 0, T), integers(V, 2 * V, T))
    ignored = torch.where(integers(0, 2, T) > 0, outside, ignore)
    kept_of_8 = {"ragged": 1, "empty": 0}.get(ctx.family, 7)
    target = torch.where(integers(0, 8, T) < kept_of_8, target, ignored)
    # Of either sign, none much larger than the others: they alone would decide the checked norms.
    dloss = (0.5 + torch.rand(T, generator=shared, device=device)) * (2 * integers(0, 2, T) - 1)
    if ctx.family == "counts":
        dloss = torch.ldexp(dloss.sign(), integers(-1, 2, T))
    return {"logits": logits.bfloat16(), "target": target, "dloss": dloss, "ignore": ignore}


def counted(entry, V, integers):
    """Which entries of a row, counted from any one of them, are among 2, 4 ... 256 that lie about
    evenly over the vocabulary: S is their number, and the gradient exact in bfloat16."""
    T, top = len(entry), min(8, V.bit_length() - 1)
    count = 2 ** (top - integers(0, min(3, top), T, 1))
    step = torch.maximum(V // count - integers(0, 3, T, 1), torch.ones_like(count))
    entry = entry % V
    return (entry % step == 0) & (entry // step < count)


def reference(ctx, logits, target, dloss, ignore):
    n, group = ctx.dims.n, ctx.group("tp")
    z = logits.float()
    largest = z.max(dim=1).values
    dist.all_reduce(largest, op=dist.ReduceOp.MAX, group=group)
    z -= largest[:, None]

    is_ignored = (target == ignore) | (target < 0) | (target >= ctx.dims.V)
    column = target - ctx.rank * n
    is_mine = (column >= 0) & (column < n) & ~is_ignored
    column = torch.where(is_mine, column, 0)[:, None]
    at_target = torch.where(is_mine, z.gather(1, column).squeeze(1), 0)
    dist.all_reduce(at_target, group=group)

    total = z.exp_().sum(dim=1)
    dist.all_reduce(total, group=group)
    loss = torch.sub(total.log(), at_target, out=ctx.out("loss"))
    loss.masked_fill_(is_ignored, 0)

    z /= total[:, None]
    z.scatter_add_(1, column, -is_mine.float()[:, None])
    z *= dloss.masked_fill(is_ignored, 0)[:, None]
    return {"loss": loss, "dlogits": ctx.out("dlogits").copy_(z)}


def oracle(ctx, inputs_of_all_ranks):
    T, n = ctx.dims.T, ctx.dims.n
    mine = inputs_of_all_ranks[ctx.rank]
    target = mine["target"]
    is_kept = (target >= 0) & (target < ctx.dims.V) & (target != mine["ignore"])
    target = torch.where(is_kept, target, 0)[:, None]
    weight = (mine["dloss"].double() * is_kept)[:, None]
    loss = torch.empty(T, dtype=torch.float64, device=ctx.device)
    dlogits = torch.empty((T, n), dtype=torch.float64, device=ctx.device)
    for begin in range(0, T, AT_ONCE):
        rows = slice(begin, begin + AT_ONCE)
        shards = [inputs["logits"][rows] for inputs in inputs_of_all_ranks]
        log_p = torch.log_softmax(torch.cat(shards, 1).double(), 1)
        loss[rows] = -log_p.gather(1, target[rows]).squeeze(1) * is_kept[rows]
        p = log_p.exp_()
        p.scatter_add_(1, target[rows], torch.full_like(weight[rows], -1))
        dlogits[rows] = (weight[rows] * p)[:, n * ctx.rank : n * (ctx.rank + 1)]
    return {"loss": loss, "dlogits": dlogits}
