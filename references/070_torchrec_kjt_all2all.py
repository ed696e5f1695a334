# SPDX-License-Identifier: Apache-2.0
"""Lists of ids by feature and sample move to the ranks that own the features."""

import itertools

import torch
import torch.distributed as dist


def make_inputs(ctx):
    """lengths (F, B), values and weights (nnz,) of this rank's samples; keys: owners' features."""
    F, B, most = ctx.dims.F, ctx.dims.B, ctx.dims.most

    def draw(low, high, *shape, of=ctx.rng, dtype=torch.int64):
        return torch.randint(low, high, shape, generator=of, device=ctx.device, dtype=dtype)

    # A feature has its own largest length on all ranks, half of `most` or more.
    largest = draw((most + 1) // 2, most + 1, F, 1, of=ctx.shared_rng())
    lengths = draw(0, 2**31, F, B) % (largest + 1)
    if ctx.family == "ragged":  # most lists are empty or as long as can be
        lengths = torch.where(draw(0, 8, F, B) < 7, draw(0, 2, F, B) * largest, lengths)
    elif ctx.family == "empty":  # on this rank, half of the features have no ids at all
        lengths = lengths * (torch.rand(F, 1, generator=ctx.rng, device=ctx.device) < 0.5)
    count = int(lengths.sum())
    ends = itertools.accumulate((ctx.dims_of(q).K for q in range(ctx.world)), initial=0)
    return {
        "nnz": count,
        "lengths": lengths,
        "values": draw(0, 2**63 - 1, count),
        "weights": torch.rand(count, generator=ctx.rng, device=ctx.device),
        "keys": torch.tensor(list(ends)),
    }


def reference(ctx, lengths, values, weights, keys):
    F, B = lengths.shape
    K, P = ctx.dims.K, ctx.world
    keys = keys.tolist()
    features = [end - begin for begin, end in itertools.pairwise(keys)]

    # How many ids go to whom; everyone needs to know, on the host, what will arrive.
    by_feature = torch.zeros(F + 1, dtype=torch.int64, device=lengths.device)
    torch.cumsum(lengths.sum(1), 0, out=by_feature[1:])
    sent = by_feature[keys].diff()
    arriving = torch.empty(P, 2, dtype=torch.int64, device=lengths.device)
    meta = torch.stack([sent, torch.full_like(sent, B)], dim=1)
    dist.all_to_all_single(arriving, meta, group=ctx.group())
    plan = torch.cat([sent, arriving.flatten()]).tolist()
    sent, received, batches = plan[:P], plan[P::2], plan[P + 1 :: 2]

    def exchange(tensor, take, give):
        result = tensor.new_empty(sum(take))
        dist.all_to_all_single(result, tensor, take, give, group=ctx.group())
        return result

    their_lengths = exchange(
        lengths.view(-1), [K * batch for batch in batches], [count * B for count in features]
    )
    their_values = exchange(values, received, sent)
    their_weights = exchange(weights, received, sent)

    # Source-major to feature-major: whole blocks (source, feature) move.
    blocks = [
        block.view(K, batch)
        for block, batch in zip(
            their_lengths.split([K * batch for batch in batches]), batches, strict=True
        )
    ]
    torch.cat(blocks, dim=1, out=ctx.out("out_lengths"))
    sizes = torch.stack([block.sum(1) for block in blocks])  # (P, K)
    begins = torch.cumsum(sizes.flatten(), 0).view(P, K) - sizes
    sizes, begins = sizes.t().flatten(), begins.t().flatten()
    total = sum(received)
    shift = begins - (torch.cumsum(sizes, 0) - sizes)
    index = torch.arange(total, device=lengths.device)
    index += torch.repeat_interleave(shift, sizes, output_size=total)
    torch.index_select(their_values, 0, index, out=ctx.out("out_values")[:total])
    torch.index_select(their_weights, 0, index, out=ctx.out("out_weights")[:total])
    ctx.out("count").fill_(total)
    return {name: ctx.out(name) for name in ("count", "out_lengths", "out_values", "out_weights")}


def oracle(ctx, inputs_of_all_ranks):
    first = sum(ctx.dims_of(q).K for q in range(ctx.rank))
    mine = range(first, first + ctx.dims.K)
    lengths, values, weights = [], [], []
    ends = [inputs["lengths"].sum(1).cumsum(0).tolist() for inputs in inputs_of_all_ranks]
    for feature in mine:
        for inputs, end in zip(inputs_of_all_ranks, ends, strict=True):
            here = slice(end[feature - 1] if feature else 0, end[feature])
            lengths.append(inputs["lengths"][feature])
            values.append(inputs["values"][here])
            weights.append(inputs["weights"][here])
    nothing = inputs_of_all_ranks[ctx.rank]
    values = torch.cat(values) if values else nothing["values"][:0]
    weights = torch.cat(weights) if weights else nothing["weights"][:0]
    lengths = torch.cat(lengths) if lengths else nothing["lengths"][:0].flatten()
    return {
        "count": torch.tensor(len(values)),
        "out_lengths": lengths.view(ctx.dims.K, ctx.dims.batch),
        "out_values": values,
        "out_weights": weights,
    }
