# SPDX-License-Identifier: Apache-2.0
"""Attention layer on a sharded sequence; two all-to-alls trade sequence for heads and back."""

import math

import torch
import torch.distributed as dist
import torch.nn.functional as F

SHARPNESS = {"sharp": 8.0, "flat": 0.1}  # deviation of the scores; otherwise 2
GAP = 64  # least distance of the largest score in the family `pick`: exp(-64) is nothing


def make_inputs(ctx):
    """x (B, s, h d) of this rank; Wqkv (3 h d, h d) and Wo (h d, h d), equal on all ranks."""
    if ctx.family == "pick":
        return picking_inputs(ctx)
    B, s, C = ctx.dims.B, ctx.dims.s, ctx.dims.h * ctx.dims.d
    shared = ctx.shared_rng()

    def normal(*shape, generator=shared):
        return torch.randn(shape, generator=generator, device=ctx.device)

    Wqkv = normal(3 * C, C) / math.sqrt(C)
    Wqkv[:C] *= SHARPNESS.get(ctx.family, 2.0)
    Wo = normal(C, C) / math.sqrt(C)
    x = normal(B, s, C, generator=ctx.rng)
    if ctx.family == "offset":
        x = (x + normal(C)) / math.sqrt(2)
    elif ctx.family == "high":
        raise_scores(ctx, x, Wqkv)
    elif ctx.family == "scaled":
        scale_channels(ctx, x, Wqkv, Wo)
    return {"x": x.bfloat16(), "Wqkv": Wqkv.bfloat16(), "Wo": Wo.bfloat16()}


def raise_scores(ctx, x, Wqkv):
    """Adds 100 to 200 to all scores of a head, or takes it away, which softmax does not see: one
    channel of a head's queries, and of its keys, is the same for all tokens."""
    h, d, device = ctx.dims.h, ctx.dims.d, ctx.device
    offset = 100 + 100 * torch.rand(h, generator=ctx.shared_rng(), device=device)
    root = torch.sqrt(offset * math.sqrt(d))
    x[..., 0] = 1
    for part, sign in ((0, 1), (1, torch.arange(h, device=device) % 2 * 2 - 1)):
        rows = Wqkv.view(3, h, d, h * d)[part, :, 0]
        rows.zero_()
        rows[:, 0] = sign * root


def scale_channels(ctx, x, Wqkv, Wo):
    """Multiplies each channel of x, q, k, v by a power of two, and what meets it by its inverse:
    nothing changes in floating point, but formats with a factor a block lose most channels."""
    C = ctx.dims.h * ctx.dims.d
    shared = ctx.shared_rng()
    of_x, of_q, of_v = torch.randint(-12, 13, (3, C), generator=shared, device=ctx.device)
    x.copy_(torch.ldexp(x, of_x))
    Wqkv.copy_(torch.ldexp(Wqkv, torch.cat([of_q, -of_q, of_v])[:, None] - of_x))
    Wo.copy_(torch.ldexp(Wo, -of_v))


def picking_inputs(ctx):
    """Every token's query picks one of the keys that it sees: x holds a code of its position and of
    the one that it picks, and a softmax over scores GAP apart is 1 there and 0 elsewhere in any
    arithmetic. The rest of x are values of 8 bits with a sign and a power of two, each its own,
    that reach y one by one. So y is exact in bfloat16, but 8 bits do not hold the values: no
    factor for a channel, a token or a block fits."""
    B, s, h, d, device = ctx.dims.B, ctx.dims.s, ctx.dims.h, ctx.dims.d, ctx.device
    C, S, shared = h * d, s * ctx.world, ctx.shared_rng()

    def integers(low, high, *shape, generator=shared):
        return torch.randint(low, high, shape, generator=generator, device=device)

    def order(count):
        return torch.randperm(count, generator=shared, device=device)

    def powers(*shape, generator=shared):
        sign = 2 * integers(0, 2, *shape, generator=generator) - 1
        return torch.ldexp(sign.float(), integers(-7, 1, *shape, generator=generator))

    # Codes of `bits` signs. Where positions outnumber them the last is that of all the others,
    # which are never picked; position 0, which all tokens see, has one of its own.
    bits = min(d, S.bit_length(), C // 3)
    last = 2**bits - 1
    number = F.pad(1 + order(S - 1), (1, 0)).clamp(max=last)
    position = torch.arange(S, device=device)
    latest = torch.where(number < last, position, 0).cummax(0).values
    code = 2 * (number[:, None] >> torch.arange(bits, device=device) & 1) - 1

    own = position[ctx.rank * s : (ctx.rank + 1) * s]
    seen = own + 1 if ctx.dims.causal else S
    picked = latest[integers(0, 2**31, B, s, generator=ctx.rng) % seen]
    shape = B, s, C - 2 * bits
    value = powers(*shape, generator=ctx.rng) * integers(128, 256, *shape, generator=ctx.rng)
    place = order(C)  # in x: of the own code, of the picked one's, of values
    x = torch.empty(B, s, C, device=device)
    x[..., place] = torch.cat([code[own].expand(B, s, bits), code[picked], value], 2)

    bit = torch.rand(h, d, generator=shared, device=device).argsort(1) % bits
    sharpness = GAP * (1 + torch.rand(h, 1, generator=shared, device=device))
    root = torch.sqrt(sharpness * math.sqrt(d) / (2 * (d // bits))) * (2 * integers(0, 2, h, d) - 1)
    source = place[2 * bits + order(C) % (C - 2 * bits)]
    Wqkv = torch.zeros(3, C, C, device=device)
    for part, column, factor in (
        (0, place[bits + bit], root),
        (1, place[bit], root),
        (2, source, powers(C)),
    ):
        Wqkv[part].scatter_(1, column.view(C, 1), factor.view(C, 1))
    Wo = torch.zeros(C, C, device=device).scatter_(1, order(C)[:, None], powers(C, 1))
    return {"x": x.bfloat16(), "Wqkv": Wqkv.view(3 * C, C).bfloat16(), "Wo": Wo.bfloat16()}


def reference(ctx, x, Wqkv, Wo):
    B, s, h, d, P = ctx.dims.B, ctx.dims.s, ctx.dims.h, ctx.dims.d, ctx.world
    group = ctx.group("sp")
    qkv = F.linear(x, Wqkv).view(B, s, 3, P, h // P, d)
    sent = qkv.permute(3, 0, 1, 2, 4, 5).contiguous()  # by the rank that gets the heads
    received = torch.empty_like(sent)
    dist.all_to_all_single(received, sent, group=group)
    q, k, v = received.permute(3, 1, 4, 0, 2, 5).reshape(3, B, h // P, P * s, d)

    o = F.scaled_dot_product_attention(q, k, v, is_causal=bool(ctx.dims.causal))

    sent = o.unflatten(2, (P, s)).permute(2, 0, 3, 1, 4).contiguous()  # by the tokens' rank
    received = torch.empty_like(sent)
    dist.all_to_all_single(received, sent, group=group)
    o = received.permute(1, 2, 0, 3, 4).reshape(B * s, h * d)
    y = ctx.out("y")
    torch.mm(o, Wo.T, out=y.view(B * s, h * d))
    return {"y": y}


def oracle(ctx, inputs_of_all_ranks):
    B, s, h, d = ctx.dims.B, ctx.dims.s, ctx.dims.h, ctx.dims.d
    own = inputs_of_all_ranks[ctx.rank]

    def project(inputs, part):
        weight = inputs["Wqkv"].double().view(3, h * d, h * d)[part]
        return (inputs["x"].double() @ weight.T).view(B, s, h, d)

    q = project(own, 0)
    k, v = (torch.cat([project(rank, part) for rank in inputs_of_all_ranks], 1) for part in (1, 2))
    hidden = None
    if ctx.dims.causal:
        key = torch.arange(k.shape[1], device=ctx.device)
        hidden = key > (ctx.rank * s + torch.arange(s, device=ctx.device))[:, None]
    o = torch.empty_like(q)
    for head in range(h):  # one at a time: all scores together would take many GiB
        score = q[:, :, head] @ k[:, :, head].transpose(1, 2) / math.sqrt(d)
        if hidden is not None:
            score.masked_fill_(hidden, -math.inf)
        o[:, :, head] = torch.softmax(score, 2) @ v[:, :, head]
    return {"y": o.view(B, s, h * d) @ own["Wo"].double().T}
