# SPDX-License-Identifier: Apache-2.0
"""Causal attention layer with the sequence in a ring along cp and the heads split along tp."""

import math

import torch
import torch.distributed as dist
import torch.nn.functional as F

SHARPNESS = {"sharp": 8.0, "flat": 0.1}  # deviation of the scores; otherwise 2
GAP = 64  # least distance of the largest score in the family `pick`: exp(-64) is nothing


def make_inputs(ctx):
    """x (B, s, N), equal along tp; Wqkv (3 hl d, N) and Wo (N, hl d), equal along cp."""
    if ctx.family == "pick":
        return picking_inputs(ctx)
    B, s, N, width = ctx.dims.B, ctx.dims.s, ctx.dims.N, ctx.dims.hl * ctx.dims.d

    def normal(generator, *shape):
        return torch.randn(shape, generator=generator, device=ctx.device)

    of_heads, of_tokens = ctx.shared_rng("tp"), ctx.shared_rng("cp")
    Wqkv = normal(of_heads, 3 * width, N) / math.sqrt(N)
    Wqkv[:width] *= SHARPNESS.get(ctx.family, 2.0)
    Wo = normal(of_heads, N, width) / math.sqrt(ctx.dims.h * ctx.dims.d)
    x = normal(of_tokens, B, s, N)
    if ctx.family == "offset":
        x = (x + normal(ctx.shared_rng(), N)) / math.sqrt(2)
    elif ctx.family == "high":
        raise_scores(ctx, x, Wqkv, of_heads)
    elif ctx.family == "scaled":
        scale_channels(ctx, x, Wqkv, Wo, of_heads)
    return {"x": x.bfloat16(), "Wqkv": Wqkv.bfloat16(), "Wo": Wo.bfloat16()}


def raise_scores(ctx, x, Wqkv, of_heads):
    """Adds 100 to 200 to all scores of a head, or takes it away, which softmax does not see: one
    channel of a head's queries, and of its keys, is the same for all tokens."""
    hl, d, device = ctx.dims.hl, ctx.dims.d, ctx.device
    offset = 100 + 100 * torch.rand(hl, generator=of_heads, device=device)
    above = 2 * torch.randint(0, 2, (hl,), generator=of_heads, device=device) - 1
    root = torch.sqrt(offset * math.sqrt(d))
    x[..., 0] = 1
    for part, sign in ((0, 1), (1, above)):
        rows = Wqkv.view(3, hl, d, -1)[part, :, 0]
        rows.zero_()
        rows[:, 0] = sign * root


def scale_channels(ctx, x, Wqkv, Wo, of_heads):
    """Multiplies each channel of x, q, k, v by a power of two, and what meets it by its inverse:
    nothing changes in floating point, but formats with a factor a block lose most channels."""

    def exponents(generator, *shape):
        return torch.randint(-12, 13, shape, generator=generator, device=ctx.device)

    of_x = exponents(ctx.shared_rng(), ctx.dims.N)
    of_q, of_v = exponents(of_heads, 2, ctx.dims.hl * ctx.dims.d)
    x.copy_(torch.ldexp(x, of_x))
    Wqkv.copy_(torch.ldexp(Wqkv, torch.cat([of_q, -of_q, of_v])[:, None] - of_x))
    Wo.copy_(torch.ldexp(Wo, -of_v))


def picking_inputs(ctx):
    """Every token's query picks one of the keys that it sees: x holds a code of its position and of
    the one that it picks, and a softmax over scores GAP apart is 1 there and 0 elsewhere in any
    arithmetic. The rest of x are values of 8 bits with a sign and a power of two, each its own,
    that reach y one by one, each from one column. So y is exact in bfloat16, but 8 bits do not
    hold the values: no factor for a channel, a token or a block fits."""
    B, s, N, hl, d, device = *(getattr(ctx.dims, n) for n in ("B", "s", "N", "hl", "d")), ctx.device
    S, width, tp = s * ctx.grid["cp"], hl * d, ctx.grid["tp"]
    shared, of_heads, of_tokens = ctx.shared_rng(), ctx.shared_rng("tp"), ctx.shared_rng("cp")

    def integers(generator, low, high, *shape):
        return torch.randint(low, high, shape, generator=generator, device=device)

    def order(generator, count):
        return torch.randperm(count, generator=generator, device=device)

    def powers(generator, *shape):
        sign = 2 * integers(generator, 0, 2, *shape) - 1
        return torch.ldexp(sign.float(), integers(generator, -7, 1, *shape))

    # Codes of `bits` signs. Where positions outnumber them the last is that of all the others,
    # which are never picked; position 0, which all tokens see, has one of its own.
    bits = min(d, S.bit_length(), N // 3)
    last = 2**bits - 1
    number = F.pad(1 + order(shared, S - 1), (1, 0)).clamp(max=last)
    position = torch.arange(S, device=device)
    latest = torch.where(number < last, position, 0).cummax(0).values
    code = 2 * (number[:, None] >> torch.arange(bits, device=device) & 1) - 1

    own = position[ctx.coordinate["cp"] * s :][:s]
    picked = latest[integers(of_tokens, 0, 2**31, B, s) % (own + 1)]
    shape = B, s, N - 2 * bits
    value = powers(of_tokens, *shape) * integers(of_tokens, 128, 256, *shape)
    place = order(shared, N)  # in x: of the own code, of the picked one's, of values
    x = torch.empty(B, s, N, device=device)
    x[..., place] = torch.cat([code[own].expand(B, s, bits), code[picked], value], 2)

    bit = torch.rand(hl, d, generator=of_heads, device=device).argsort(1) % bits
    sharpness = GAP * (1 + torch.rand(hl, 1, generator=of_heads, device=device))
    root = torch.sqrt(sharpness * math.sqrt(d) / (2 * (d // bits)))
    root = root * (2 * integers(of_heads, 0, 2, hl, d) - 1)
    source = place[2 * bits + order(of_heads, width) % (N - 2 * bits)]
    Wqkv = torch.zeros(3, width, N, device=device)
    for part, channel, factor in (
        (0, place[bits + bit], root),
        (1, place[bit], root),
        (2, source, powers(of_heads, width)),
    ):
        Wqkv[part].scatter_(1, channel.view(width, 1), factor.view(width, 1))

    turn = order(shared, N)  # column turn % tp alone gives this channel of y
    channel = order(of_heads, width)[turn // tp % width]
    factor = powers(of_heads, N) * (turn % tp == ctx.coordinate["tp"])
    Wo = torch.zeros(N, width, device=device).scatter_(1, channel[:, None], factor[:, None])
    return {"x": x.bfloat16(), "Wqkv": Wqkv.view(-1, N).bfloat16(), "Wo": Wo.bfloat16()}


def reference(ctx, x, Wqkv, Wo):
    B, s, hl, d = ctx.dims.B, ctx.dims.s, ctx.dims.hl, ctx.dims.d
    ring, place, length = ctx.group("cp"), ctx.coordinate["cp"], ctx.grid["cp"]
    qkv = F.linear(x, Wqkv).view(B, s, 3, hl, d)
    q, kv = qkv[:, :, 0].transpose(1, 2), qkv[:, :, 1:].contiguous()
    for step in range(length):
        incoming, exchange = torch.empty_like(kv), []
        if step + 1 < length:
            exchange = _pass_on(kv, incoming, ring, place, length)
        if step <= place:  # the blocks of later places are the future
            k, v = kv.permute(2, 0, 3, 1, 4)
            block, block_lse = _attention(q, k, v, is_causal=step == 0)
            if step == 0:
                o, lse = block.float(), block_lse
            else:
                o = o - torch.sigmoid(block_lse - lse)[..., None] * (o - block)
                lse = lse - F.logsigmoid(lse - block_lse)
        for work in exchange:
            work.wait()
        kv = incoming
    y = ctx.out("y")
    o = o.to(x.dtype).transpose(1, 2).reshape(B * s, hl * d)
    torch.mm(o, Wo.T, out=y.view(B * s, -1))
    dist.all_reduce(y, group=ctx.group("tp"))
    return {"y": y}


def _pass_on(kv, incoming, ring, place, length):
    """Starts sending kv to the next rank of the ring and receiving the previous one's."""
    following = dist.get_global_rank(ring, (place + 1) % length)
    previous = dist.get_global_rank(ring, (place - 1) % length)
    return dist.batch_isend_irecv(
        [
            dist.P2POp(dist.isend, kv, following, ring),
            dist.P2POp(dist.irecv, incoming, previous, ring),
        ]
    )


def _attention(q, k, v, is_causal):
    """Fused attention over one block of keys: its result and the logarithms of its sums."""
    if q.is_cuda:
        fused = torch.ops.aten._scaled_dot_product_flash_attention
    else:
        fused = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    return fused(q, k, v, 0.0, is_causal)[:2]


def oracle(ctx, inputs_of_all_ranks):
    B, s, hl, d = ctx.dims.B, ctx.dims.s, ctx.dims.hl, ctx.dims.d
    place, tp = ctx.coordinate["cp"], ctx.grid["tp"]
    query = place * s + torch.arange(s, device=ctx.device)
    hidden = torch.arange((place + 1) * s, device=ctx.device) > query[:, None]

    def project(inputs, part):
        weight = inputs["Wqkv"].double().view(3, hl * d, -1)[part]
        return (inputs["x"].double() @ weight.T).view(B, s, hl, d)

    y = 0
    for heads in range(tp):
        past = [inputs_of_all_ranks[c * tp + heads] for c in range(place + 1)]
        q = project(past[-1], 0)
        k, v = (torch.cat([project(inputs, part) for inputs in past], 1) for part in (1, 2))
        o = torch.empty_like(q)
        for head in range(hl):  # one at a time: all scores together would take many GiB
            score = q[:, :, head] @ k[:, :, head].transpose(1, 2) / math.sqrt(d)
            score.masked_fill_(hidden, -math.inf)
            o[:, :, head] = torch.softmax(score, 2) @ v[:, :, head]
        y = y + o.view(B, s, hl * d) @ past[-1]["Wo"].double().T
    return {"y": y}
