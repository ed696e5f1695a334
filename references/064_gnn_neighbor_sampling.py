# SPDX-License-Identifier: Apache-2.0
"""Two hops of neighbour sampling in a graph whose columns lie spread over the ranks."""

import itertools

import torch
import torch.distributed as dist

WORD = 0xFFFFFFFF


def make_inputs(ctx):
    """colptr (n + 1,) and row (edges,) of this rank's columns; seeds (S,), all different."""
    V, n, S, mean = ctx.dims.V, ctx.dims.n, ctx.dims.S, ctx.dims.mean

    def uniform(count, of=ctx.rng):
        return torch.rand(count, generator=of, device=ctx.device, dtype=torch.float64)

    # Degrees follow a power law: a few columns are very long. Some are empty, but not so many that
    # the few seeds of a rank on another one meet nothing but empty ones.
    steepness = 0.85 if ctx.family == "ragged" else 0.6
    degree = mean / 3 * uniform(n).clamp_(min=1e-9) ** -steepness
    degree *= uniform(n) < (0.5 if ctx.family == "sparse" else 0.85)
    degree = degree.clamp_(max=40 * mean).long()
    colptr = torch.zeros(n + 1, dtype=torch.int64, device=ctx.device)
    torch.cumsum(degree, 0, out=colptr[1:])
    colptr.clamp_(max=n * mean)
    edges = int(colptr[-1])

    # Some nodes are many nodes' neighbours; another draw makes them others.
    shift = torch.randint(V, (1,), generator=ctx.shared_rng(), device=ctx.device)
    row = ((uniform(edges) ** 2 * V).long() + shift) % V
    salt = torch.randint(WORD, (1,), generator=ctx.shared_rng(), device=ctx.device)
    seeds = torch.randperm(V, generator=ctx.rng, device=ctx.device)[:S]
    return {"edges": edges, "colptr": colptr, "row": row, "seeds": seeds, "salt": int(salt)}


def key_of(edge, salt):
    """A hash of 32 bits; different for all edges below 2^32."""
    x = (edge + salt) & WORD
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & WORD
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & WORD
    return x ^ (x >> 16)


def begins(counts):
    """Where each of the pieces begins if they lie one after another."""
    return torch.cumsum(counts, 0) - counts


def repeat(values, counts, total):
    return torch.repeat_interleave(values, counts, output_size=total)


def sums(values, pieces):
    """Sums over pieces of the given lengths."""
    ends = torch.zeros(len(values) + 1, dtype=values.dtype, device=values.device)
    torch.cumsum(values, 0, out=ends[1:])
    return ends[list(itertools.accumulate(pieces, initial=0))].diff()


def choose(ctx, colptr, row, nodes, k, salt):
    """Of each owned node's edges the k of the smallest keys, in the order in which they lie."""
    column = nodes // ctx.world
    begin = colptr[column]
    degree = colptr[column + 1] - begin
    total = int(degree.sum())
    which = repeat(torch.arange(len(nodes), device=nodes.device), degree, total)
    place = torch.arange(total, device=nodes.device) - begins(degree)[which]
    position = begin[which] + place
    edge = position * ctx.world + ctx.rank
    order = torch.argsort((which << 32) + key_of(edge, salt))
    is_kept = torch.empty(total, dtype=torch.bool, device=nodes.device)
    is_kept[order] = place < k
    kept = is_kept.nonzero().squeeze(1)
    return degree.clamp(max=k), torch.stack([row[position[kept]], edge[kept]], dim=1)


def ask(ctx, frontier, colptr, row, k, salt):
    """Edges (neighbour, edge id) of every node of the frontier, and how many each node has."""
    owner = frontier % ctx.world
    order = torch.argsort(owner, stable=True)
    sent = torch.zeros(ctx.world, dtype=torch.int64, device=frontier.device)
    sent.scatter_add_(0, owner, torch.ones_like(owner))
    asking = torch.empty_like(sent)
    dist.all_to_all_single(asking, sent, group=ctx.group())
    sent, asking = torch.stack([sent, asking]).tolist()

    def exchange(tensor, take, give):
        result = tensor.new_empty(sum(take), *tensor.shape[1:])
        dist.all_to_all_single(result, tensor, take, give, group=ctx.group())
        return result

    questions = exchange(frontier[order], asking, sent)
    their_counts, their_edges = choose(ctx, colptr, row, questions, k, salt)
    counts = exchange(their_counts, sent, asking)
    arriving, leaving = torch.stack([sums(counts, sent), sums(their_counts, asking)]).tolist()
    found = exchange(their_edges, arriving, leaving)

    # From the owners' order back to the frontier's.
    count, begin = torch.empty_like(counts), torch.empty_like(counts)
    count[order] = counts
    begin[order] = begins(counts)
    index = torch.arange(len(found), device=found.device)
    index += repeat(begin - begins(count), count, len(found))
    return found[index], count


def number(nodes, neighbours):
    """The list with what is new in `neighbours`, by first occurrence; and their places in it."""
    everything = torch.cat([nodes, neighbours])
    ids, inverse = torch.unique(everything, return_inverse=True)
    places = torch.arange(len(everything), device=nodes.device)
    first = torch.full_like(ids, len(everything)).scatter_reduce_(0, inverse, places, "amin")
    order = torch.argsort(first)
    place = torch.empty_like(order)
    place[order] = places[: len(order)]
    return ids[order], place[inverse[len(nodes) :]]


def reference(ctx, colptr, row, seeds, salt):
    nodes, frontier = seeds, seeds
    rows, columns, edges = [], [], []
    for k in (ctx.dims.k1, ctx.dims.k2):
        found, count = ask(ctx, frontier, colptr, row, k, salt)
        begin = len(nodes) - len(frontier)
        places = torch.arange(begin, len(nodes), device=nodes.device)
        columns.append(repeat(places, count, len(found)))
        edges.append(found[:, 1])
        known = len(nodes)
        nodes, places = number(nodes, found[:, 0])
        rows.append(places)
        frontier = nodes[known:]

    count = sum(len(part) for part in edges)
    ctx.out("node_count").fill_(len(nodes))
    ctx.out("edge_count").fill_(count)
    ctx.out("node")[: len(nodes)] = nodes
    for name, parts in (("out_row", rows), ("out_col", columns), ("out_edge", edges)):
        torch.cat(parts, out=ctx.out(name)[:count])
    names = ("node_count", "edge_count", "node", "out_row", "out_col", "out_edge")
    return {name: ctx.out(name) for name in names}


def whole_graph(ctx, inputs_of_all_ranks):
    """First edge and degree of every node, and all edges: neighbours and ids."""
    P = ctx.world
    first = torch.zeros(ctx.dims.V, dtype=torch.int64, device=ctx.device)
    degree, neighbours, ids = torch.zeros_like(first), [], []
    for q, inputs in enumerate(inputs_of_all_ranks):
        first[q::P] = inputs["colptr"][:-1] + sum(map(len, neighbours))
        degree[q::P] = inputs["colptr"].diff()
        neighbours.append(inputs["row"])
        ids.append(torch.arange(len(inputs["row"]), device=ctx.device) * P + q)
    return first, degree, torch.cat(neighbours), torch.cat(ids)


def oracle(ctx, inputs_of_all_ranks):
    own = inputs_of_all_ranks[ctx.rank]
    first, degree, neighbours, ids = whole_graph(ctx, inputs_of_all_ranks)
    place = torch.full_like(first, -1)
    nodes, begin = own["seeds"], 0
    place[nodes] = torch.arange(len(nodes), device=ctx.device)
    rows, columns, edges = [], [], []
    for k in (ctx.dims.k1, ctx.dims.k2):
        frontier = nodes[begin:]
        column = torch.repeat_interleave(
            torch.arange(begin, len(nodes), device=ctx.device), degree[frontier]
        )
        start = torch.repeat_interleave(first[frontier], degree[frontier])
        within = torch.arange(len(column), device=ctx.device)
        within -= torch.repeat_interleave(begins(degree[frontier]), degree[frontier])
        edge = start + within
        by_key = torch.argsort(key_of(ids[edge], own["salt"]))
        by_key = by_key[torch.argsort(column[by_key], stable=True)]
        kept = by_key[within < k].sort().values
        edge, column = edge[kept], column[kept]

        reached = neighbours[edge]
        turn = torch.arange(len(reached), device=ctx.device)
        earliest = torch.full_like(first, len(reached)).scatter_reduce_(0, reached, turn, "amin")
        fresh = reached[(place[reached] < 0) & (earliest[reached] == turn)]
        begin = len(nodes)
        nodes = torch.cat([nodes, fresh])
        place[fresh] = torch.arange(begin, len(nodes), device=ctx.device)
        rows.append(place[reached])
        columns.append(column)
        edges.append(ids[edge])
    return {
        "node_count": torch.tensor(len(nodes)),
        "edge_count": torch.tensor(sum(len(part) for part in edges)),
        "node": nodes,
        "out_row": torch.cat(rows),
        "out_col": torch.cat(columns),
        "out_edge": torch.cat(edges),
    }
