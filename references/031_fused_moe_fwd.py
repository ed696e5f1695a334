# SPDX-License-Identifier: Apache-2.0
"""Mixture-of-experts layer, forward, with the experts spread over the ranks."""

import math

import torch
import torch.distributed as dist
import torch.nn.functional as F

MARGIN = 2e-3  # least distance of a token's k-th and next logit; float32 sums err by 1e-5 at most
GAP = 64  # in the family `pick`: exp(-64) is nothing


def make_inputs(ctx):
    """x (M, N), the shared router Wg (E, N), and this rank's experts gate, up (L, H, N) and
    down (L, N, H), all bf16. Tokens have a common mean; through it experts differ in popularity."""
    if ctx.family == "pick":
        return picking_inputs(ctx)
    M, N, H, L, E = ctx.dims.M, ctx.dims.N, ctx.dims.H, ctx.dims.L, ctx.dims.E

    def normal(*shape, generator=ctx.rng):
        return torch.randn(shape, generator=generator, device=ctx.device)

    shared = ctx.shared_rng()
    mean = 0.5 * normal(N, generator=shared)
    popularity = 0.3 * normal(E, generator=shared)
    if ctx.family == "ragged":  # nearly every token chooses one expert
        popularity[torch.randint(E, (1,), generator=shared, device=ctx.device)] = 5
    elif ctx.family == "empty":  # the experts of every other rank get no token
        popularity[torch.arange(E, device=ctx.device) // L % 2 == 1] = -30
    Wg = normal(E, N, generator=shared) / math.sqrt(N)
    Wg = (Wg + torch.outer(popularity, mean / mean.square().sum())).bfloat16()

    x = normal(M + M // 2 + 32, N)
    if ctx.family == "outliers":
        rare = torch.rand(x.shape, generator=ctx.rng, device=ctx.device) < 0.05
        x = torch.where(rare, 5 * x, x)
    x = (x + mean).bfloat16()
    if ctx.family == "close":  # logits in bfloat16 would choose other experts
        x = _nudged(x, Wg, ctx.dims.k)
    gate, up = ((normal(L, H, N) / math.sqrt(N)).bfloat16() for _ in range(2))
    if ctx.family == "scaled":
        # Powers of two that cancel change nothing in floating point, but formats with a factor a
        # token or block lose most of x.
        of_x = torch.randint(-12, 13, (N,), generator=shared, device=ctx.device)
        x = torch.ldexp(x, of_x)
        Wg, gate, up = (torch.ldexp(weight, -of_x) for weight in (Wg, gate, up))
    return {
        "x": _decided(x, Wg, ctx.dims.k)[:M],
        "Wg": Wg,
        "gate": gate,
        "up": up,
        "down": (normal(L, N, H) / math.sqrt(H)).bfloat16(),
    }


def picking_inputs(ctx):
    """Every token picks one expert, whose weight is 1 and the others' 0 in any arithmetic, for its
    logit is more than GAP larger; silu leaves numbers from GAP on as they are. The rest of x are
    values of 8 bits with a sign and a power of two, each its own, that reach y one by one. So y is
    exact in bfloat16, but 8 bits hold neither x nor the experts' results: no factor for a channel,
    a token or a block fits."""
    M, N, H, L, E = ctx.dims.M, ctx.dims.N, ctx.dims.H, ctx.dims.L, ctx.dims.E
    device, shared = ctx.device, ctx.shared_rng()

    def integers(low, high, *shape):
        return torch.randint(low, high, shape, generator=ctx.rng, device=device)

    def order(count):
        return torch.randperm(count, generator=shared, device=device)

    def powers(*shape):
        return torch.ldexp(2.0 * integers(0, 2, *shape) - 1, integers(-7, 1, *shape))

    bits = (E - 1).bit_length()  # of an expert's code
    code = (
        2 * (torch.arange(E, device=device)[:, None] >> torch.arange(bits, device=device) & 1) - 1
    )
    count = N - bits - 1
    value = powers(M, count) * integers(128, 256, M, count)
    ones = torch.ones(M, 1, device=device)
    place = order(N)  # in x: of the picked expert's code, of a one, of values
    x = torch.empty(M, N, device=device)
    x[:, place] = torch.cat([code[integers(0, E, M)], ones, value], 1)

    Wg = torch.zeros(E, N, device=device)
    Wg[:, place[:bits]] = GAP * code.float()
    Wg[:, place[bits]] = order(E) / 4  # the other choices are plain as well
    gate, up = torch.zeros(2, L, H, N, device=device)
    gate[..., place[bits]] = GAP * 2.0 ** integers(0, 2, L, H)
    up.scatter_(2, place[bits + 1 + integers(0, count, L, H, 1)], powers(L, H, 1))
    down = torch.zeros(L, N, H, device=device)
    down.scatter_(2, integers(0, H, L, N, 1), powers(L, N, 1))
    inputs = {"x": x, "Wg": Wg, "gate": gate, "up": up, "down": down}
    return {name: tensor.bfloat16() for name, tensor in inputs.items()}


def _nudged(x, Wg, k):
    """The tokens, moved until the k-th and the next logit differ by about two margins."""
    if k == len(Wg):
        return x
    x, Wg = x.double(), Wg.double()
    value, expert = (x @ Wg.T).topk(k + 1)
    way = Wg[expert[:, k - 1]] - Wg[expert[:, k]]
    step = (value[:, k - 1] - value[:, k] - 2 * MARGIN) / way.square().sum(1)
    return (x - step[:, None] * way).bfloat16()


def _decided(x, Wg, k):
    """The tokens, those first whose choice of k experts no rounding in float32 can change."""
    if k == len(Wg):
        return x
    logits = (x.double() @ Wg.double().T).topk(k + 1).values
    is_close = logits[:, k - 1] - logits[:, k] < MARGIN
    return x[torch.argsort(is_close.to(torch.uint8), stable=True)]


def reference(ctx, x, Wg, gate, up, down):
    k, E, L = ctx.dims.k, ctx.dims.E, ctx.dims.L
    group = ctx.group("ep")
    logits = F.linear(x.float(), Wg.float())
    weight, choice = torch.topk(torch.softmax(logits, 1), k)
    weight = weight / weight.sum(1, keepdim=True)

    # How many rows go where. The splits of an exchange are needed on the host: one wait.
    chosen = choice.flatten()
    counts = torch.zeros(E, dtype=torch.int64, device=x.device)
    counts.index_add_(0, chosen, torch.ones_like(chosen))
    everyones = torch.empty(ctx.world * E, dtype=torch.int64, device=x.device)
    dist.all_gather_into_tensor(everyones, counts, group=group)
    table = everyones.view(ctx.world, ctx.world, L).tolist()  # [source][owner][expert]
    send = [sum(row) for row in table[ctx.rank]]
    mine = [rows[ctx.rank] for rows in table]
    recv = [sum(row) for row in mine]

    order = torch.argsort(chosen, stable=True)
    rows = x[order // k]
    received = x.new_empty(sum(recv), x.shape[1])
    dist.all_to_all_single(received, rows, recv, send, group=group)

    by_expert = [[mine[q][e] for q in range(ctx.world)] for e in range(L)]
    rows = _regroup(received, mine)
    results = torch.empty_like(rows)
    lengths = [sum(row) for row in by_expert]
    for e, (u, v) in enumerate(zip(rows.split(lengths), results.split(lengths), strict=True)):
        if len(u) > 0:
            hidden = F.silu(F.linear(u, gate[e])) * F.linear(u, up[e])
            torch.mm(hidden, down[e].T, out=v)
    results = _regroup(results, by_expert)

    returned = x.new_empty(len(order), x.shape[1])
    dist.all_to_all_single(returned, results, send, recv, group=group)
    slots = torch.empty_like(returned)
    slots[order] = returned
    y = ctx.out("y")
    y.copy_((weight[:, :, None] * slots.view(*choice.shape, x.shape[1])).sum(1))
    return {"y": y}


def _regroup(rows, lengths):
    """Rows that lie in pieces of lengths[i][j] rows, i major; the same pieces with j major."""
    pieces = iter(rows.split([length for row in lengths for length in row]))
    table = [[next(pieces) for _ in row] for row in lengths]
    return torch.cat([piece for column in zip(*table, strict=True) for piece in column])


def oracle(ctx, inputs_of_all_ranks):
    own = inputs_of_all_ranks[ctx.rank]
    x = own["x"].double()
    logits, choice = torch.topk(x @ own["Wg"].double().T, ctx.dims.k)
    weight = torch.softmax(logits, 1)
    y = torch.zeros_like(x)
    for e in range(ctx.dims.E):
        owner, local = inputs_of_all_ranks[e // ctx.dims.L], e % ctx.dims.L
        token, slot = torch.nonzero(choice == e, as_tuple=True)
        u = x[token]
        hidden = F.silu(u @ owner["gate"][local].double().T) * (u @ owner["up"][local].double().T)
        y.index_add_(
            0, token, weight[token, slot, None] * (hidden @ owner["down"][local].double().T)
        )
    return {"y": y}
