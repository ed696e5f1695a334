# SPDX-License-Identifier: Apache-2.0
"""Step of a block-diagonal extended Kalman filter over lists of parameter blocks."""

import itertools
import math

import torch
import torch.distributed as dist

RANK = 32  # of what a covariance is beyond the identity


def sizes_of(dims):
    return [getattr(dims, f"b{i}") for i in range(dims.L)]


def offsets(sizes):
    return torch.tensor([0, *itertools.accumulate(sizes)])


def matrices(cov, sizes):
    flat = cov.split([size * size for size in sizes])
    return [part.view(size, size) for part, size in zip(flat, sizes, strict=True)]


def make_inputs(ctx):
    """H, w (n,) and cov (elements,) f64, this rank's blocks; error and lam, the same everywhere."""
    sizes, shared, device = sizes_of(ctx.dims), ctx.shared_rng(), ctx.device

    def normal(*shape):
        return torch.randn(shape, generator=ctx.rng, device=device, dtype=torch.float64)

    def uniform():
        return float(torch.rand((), generator=shared, device=device, dtype=torch.float64))

    gradients, covariances = [], []
    for size in sizes:
        V = normal(size, RANK)
        C = torch.addmm(torch.eye(size, dtype=torch.float64, device=device), V, V.T)
        covariances.append((C + C.T).div_(2).flatten())  # a product need not be symmetric itself
        gradients.append(3 / math.sqrt(max(size, 1)) * normal(size))
    loud = int(torch.randint(0, ctx.world, (), generator=shared, device=device))
    scale = {"tiny": 1e-3, "huge": 1e3}.get(ctx.family, 1)
    if ctx.family == "outliers" and ctx.rank == loud:  # one rank's first block outweighs the rest
        gradients[0] = 1e3 * gradients[0]
    everyones = [size for q in range(ctx.world) for size in sizes_of(ctx.dims_of(q))]
    return {
        "H": scale * torch.cat(gradients),
        "w": normal(ctx.dims.n),
        "cov": torch.cat(covariances),
        "cuts": offsets(sizes),
        "squares": offsets(size * size for size in sizes),
        "all_cuts": offsets(everyones),
        "error": math.copysign(5 + 10 * uniform(), uniform() - 0.5),
        "lam": 0.95 + 0.04 * uniform(),
    }


def reference(ctx, H, w, cov, cuts, squares, all_cuts, error, lam):
    sizes = cuts.diff().tolist()
    gradients, covariances = H.split(sizes), matrices(cov, sizes)
    gains = [C @ h for C, h in zip(covariances, gradients, strict=True)]

    a = torch.dot(H, torch.cat(gains)).view(1) + lam * len(sizes)
    dist.all_reduce(a, group=ctx.group())
    A = 1 / a

    for part, C, K in zip(w.split(sizes), covariances, gains, strict=True):
        part.add_(A * error * K)
        C.addr_(K, A * K, beta=1 / lam, alpha=-1 / lam)

    ends = all_cuts[:: len(sizes)].diff().tolist()
    padded = torch.nn.functional.pad(w, (0, ctx.dims.most - len(w)))
    everyones = w.new_empty(ctx.world * ctx.dims.most)
    dist.all_gather_into_tensor(everyones, padded, group=ctx.group())
    rows = everyones.view(ctx.world, ctx.dims.most)
    parts = [row[:end] for row, end in zip(rows, ends, strict=True)]
    return {"w": w, "cov": cov, "weights": torch.cat(parts, out=ctx.out("weights"))}


def oracle(ctx, inputs_of_all_ranks):
    gains, a, lam = [], 0, inputs_of_all_ranks[ctx.rank]["lam"]
    for q, inputs in enumerate(inputs_of_all_ranks):
        sizes = sizes_of(ctx.dims_of(q))
        blocks = zip(matrices(inputs["cov"], sizes), inputs["H"].split(sizes), strict=True)
        gains.append([C @ h for C, h in blocks])
        a = a + lam * len(sizes) + inputs["H"] @ torch.cat(gains[q])
    error = inputs_of_all_ranks[ctx.rank]["error"]
    weights = [
        inputs["w"] + error / a * torch.cat(gain)
        for inputs, gain in zip(inputs_of_all_ranks, gains, strict=True)
    ]
    own = matrices(inputs_of_all_ranks[ctx.rank]["cov"], sizes_of(ctx.dims))
    cov = [
        ((C - torch.outer(K, K) / a) / lam).flatten()
        for C, K in zip(own, gains[ctx.rank], strict=True)
    ]
    return {"w": weights[ctx.rank], "cov": torch.cat(cov), "weights": torch.cat(weights)}
