# SPDX-License-Identifier: Apache-2.0
"""Gaussians are projected for all cameras; what a camera sees moves to its owner."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

REACH = 3.33  # standard deviations that a radius covers


def make_inputs(ctx):
    """n Gaussians of this rank, its C cameras, and three numbers. A Gaussian for which a decision
    on any camera is close, or whose ellipse there is ill-conditioned, is left out."""
    most, device = ctx.dims.N, ctx.device
    view, K = all_cameras(ctx)
    eps2d, near, far = torch.rand(3, generator=ctx.shared_rng(), device=device).tolist()
    values = {"eps2d": 0.1 + 5 * eps2d, "near": 1 + 0.2 * near, "far": 3.3 + 0.5 * far}
    size = 6 / (0.8 * min(ctx.dims.W, ctx.dims.H))  # 2 pixels at a distance of 3
    if ctx.family == "dense":
        values["far"] += 10
    elif ctx.family == "small":  # determinants on both sides of their floor
        size *= 1e-3
        values["eps2d"] = 4e-6 + 4e-6 * eps2d

    count = most + most // 2 + 32
    if ctx.family == "edges":
        count *= 3

    def uniform(*shape):
        return torch.rand(count, *shape, generator=ctx.rng, device=device)

    def normal(*shape):
        return torch.randn(count, *shape, generator=ctx.rng, device=device)

    gaussians = {
        "mean": 5 * uniform(3) - 2.5,
        "quat": normal(4),
        "scale": size * torch.exp(0.5 * normal(3)),
        "opacity": 0.1 + 0.8 * uniform(),
        "colour": uniform(3),
    }
    shape = [gaussians[name].double() for name in ("mean", "quat", "scale")]
    distance = torch.full((count,), torch.inf, dtype=torch.float64, device=device)
    at_once = max(1, 2**21 // count)  # cameras; many more would need much memory
    for views, Ks in zip(view.double().split(at_once), K.double().split(at_once), strict=True):
        distance = torch.minimum(distance, clearance(ctx, *shape, views, Ks, values))
    kept = (distance > 0).nonzero().squeeze(1)
    if ctx.family == "edges":  # those that are only just seen, or only just not
        kept = kept[distance[kept].argsort()[:most]].sort().values
    least = most - most // 4
    wanted = int(torch.randint(least, most + 1, (1,), generator=ctx.rng, device=device))
    kept = kept[:wanted]
    mine = slice(ctx.rank * ctx.dims.C, (ctx.rank + 1) * ctx.dims.C)
    return {
        "n": len(kept),
        **{name: tensor[kept] for name, tensor in gaussians.items()},
        "view": view[mine].contiguous(),
        "K": K[mine].contiguous(),
        **values,
    }


def all_cameras(ctx):
    """View (G, 4, 4) and K (G, 3, 3) of all ranks' cameras, which look at the scene from around."""
    count, W, H = ctx.world * ctx.dims.C, ctx.dims.W, ctx.dims.H
    rng, device = ctx.shared_rng(), ctx.device

    def normal(*shape):
        return torch.randn(count, *shape, generator=rng, device=device, dtype=torch.float64)

    def uniform(*shape):
        return torch.rand(count, *shape, generator=rng, device=device, dtype=torch.float64)

    distance = 2 + uniform(1) + (4 if ctx.family == "dense" else 0)
    place = F.normalize(normal(3), dim=1) * distance
    target = (4 if ctx.family == "sparse" else 0.3) * normal(3)  # sparse: some look past the scene
    forward = F.normalize(target - place, dim=1)
    right = F.normalize(torch.linalg.cross(forward, normal(3)), dim=1)
    turn = torch.stack([right, torch.linalg.cross(forward, right), forward], dim=1)
    view = torch.zeros(count, 4, 4, dtype=torch.float64, device=device)
    view[:, :3, :3] = turn
    view[:, :3, 3] = -(turn @ place[:, :, None])[:, :, 0]
    view[:, 3, 3] = 1

    K = torch.zeros(count, 3, 3, dtype=torch.float64, device=device)
    focal = 0.8 * min(W, H) * (0.8 + 0.4 * uniform(2))
    K[:, 0, 0], K[:, 1, 1] = focal.unbind(1)
    K[:, 0, 2] = W * (0.4 + 0.2 * uniform())
    K[:, 1, 2] = H * (0.4 + 0.2 * uniform())
    K[:, 2, 2] = 1
    return view.float(), K.float()


def clearance(ctx, mean, quat, scale, view, K, values):
    """How many pixels a Gaussian is away from being seen or not on the nearest of these cameras; 0
    if rounding in float32 could turn a decision."""
    seen = project(ctx, mean, quat, scale, view, K, values)
    depth, mean2d, extent, radii = (seen[k] for k in ("depth", "mean2d", "extent", "radii"))
    near, far = values["near"], values["far"]
    limit = torch.tensor([ctx.dims.W, ctx.dims.H], device=mean.device)
    is_whole = (extent - extent.round()).abs() < 1e-3 + 2e-5 * extent
    inside = torch.minimum(mean2d + radii, limit - (mean2d - radii))
    outside = torch.maximum(mean2d + radii, limit - (mean2d - radii))
    margin = 1e-2 + 1e-4 * mean2d.abs()
    is_edge = (inside.abs() < margin) | (outside.abs() < margin)
    is_close = (is_whole | is_edge).any(2) | (seen["condition"] > 300)
    is_between = (depth > near) & (depth < far)
    is_close &= is_between
    is_close |= ((depth - near).abs() < 1e-4) | ((depth - far).abs() < 1e-4)
    distance = torch.where(is_between, inside.amin(2).abs(), torch.inf)
    return torch.where(is_close, 0, distance).amin(0)


def rotations(quat):
    """(n, 3, 3) of quaternions (w, x, y, z) of any length."""
    w, x, y, z = F.normalize(quat, dim=1).unbind(1)
    return torch.stack(
        [
            torch.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], 1),
            torch.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], 1),
            torch.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], 1),
        ],
        dim=1,
    )


def project(ctx, mean, quat, scale, view, K, values):
    """n Gaussians on G cameras, in the precision of the inputs: tensors (G, n, ...)."""
    W, H = ctx.dims.W, ctx.dims.H
    turn = view[:, None, :3, :3]
    x, y, z = (mean @ view[:, :3, :3].mT + view[:, None, :3, 3]).unbind(2)
    focal = K[:, [0, 1], [0, 1]]
    fx, fy = focal[:, :1], focal[:, 1:]
    cx, cy = K[:, 0, 2:], K[:, 1, 2:]

    root = turn @ (rotations(quat) * scale[:, None, :])
    covariance = root @ root.mT  # in the camera's frame
    side_x, side_y = 0.3 * W / (2 * fx), 0.3 * H / (2 * fy)
    tx = z * torch.minimum(torch.maximum(x / z, -(cx / fx + side_x)), (W - cx) / fx + side_x)
    ty = z * torch.minimum(torch.maximum(y / z, -(cy / fy + side_y)), (H - cy) / fy + side_y)
    zero = torch.zeros_like(z)
    J = torch.stack(
        [
            torch.stack([fx / z, zero, -fx * tx / (z * z)], 2),
            torch.stack([zero, fy / z, -fy * ty / (z * z)], 2),
        ],
        dim=2,
    )
    S = J @ covariance @ J.mT
    a, b, c = S[..., 0, 0] + values["eps2d"], S[..., 0, 1], S[..., 1, 1] + values["eps2d"]
    det = (a * c - b * b).clamp(min=1e-10)
    extent = REACH * torch.sqrt(torch.stack([a, c], 2))
    mean2d = torch.stack([fx * x / z + cx, fy * y / z + cy], 2)
    radii = extent.ceil()
    limit = torch.tensor([W, H], dtype=mean.dtype, device=mean.device)
    is_seen = ((mean2d + radii > 0) & (mean2d - radii < limit)).all(2)
    is_seen &= (z > values["near"]) & (z < values["far"])
    return {
        "is_seen": is_seen,
        "extent": extent,
        "radii": radii,
        "mean2d": mean2d,
        "depth": z,
        "conic": torch.stack([c / det, -b / det, a / det], 2),
        "condition": a * c / det,
    }


def reference(ctx, mean, quat, scale, opacity, colour, view, K, eps2d, near, far):
    P, C, n = ctx.world, ctx.dims.C, len(mean)
    values = {"eps2d": eps2d, "near": near, "far": far}

    # Everyone's number of Gaussians, for the ids, and everyone's cameras.
    counts = torch.empty(P, dtype=torch.int64, device=mean.device)
    own = torch.full((1,), n, dtype=torch.int64, device=mean.device)
    dist.all_gather_into_tensor(counts, own, group=ctx.group())
    cameras = torch.empty(P * C, 25, device=mean.device)
    own = torch.cat([view.flatten(1), K.flatten(1)], dim=1)
    dist.all_gather_into_tensor(cameras, own, group=ctx.group())
    views, Ks = cameras[:, :16].reshape(-1, 4, 4), cameras[:, 16:].reshape(-1, 3, 3)

    seen = project(ctx, mean, quat, scale, views, Ks, values)
    sent = seen["is_seen"].view(P, -1).sum(1)
    arriving = torch.empty_like(sent)
    dist.all_to_all_single(arriving, sent, group=ctx.group())
    first = counts[: ctx.rank].sum()
    sent, arriving = torch.stack([sent, arriving]).tolist()
    at, which = seen["is_seen"].nonzero(as_tuple=True)

    def exchange(*columns):
        rows = torch.cat([c[:, None] if c.dim() == 1 else c for c in columns], dim=1)
        result = rows.new_empty(sum(arriving), rows.shape[1])
        dist.all_to_all_single(result, rows, arriving, sent, group=ctx.group())
        return result

    ids = exchange(at % C, which + first)
    radii = exchange(seen["radii"][at, which].to(torch.int32))
    geometry = [seen[name][at, which] for name in ("mean2d", "depth", "conic")]
    floats = exchange(*geometry, opacity[which], colour[which])

    total = sum(arriving)
    ctx.out("count").fill_(total)
    parts = {
        "camera": ids[:, 0],
        "gaussian": ids[:, 1],
        "radii": radii,
        "mean2d": floats[:, :2],
        "depth": floats[:, 2],
        "conic": floats[:, 3:6],
        "out_opacity": floats[:, 6],
        "out_colour": floats[:, 7:],
    }
    for name, part in parts.items():
        ctx.out(name)[:total] = part
    return {name: ctx.out(name) for name in ("count", *parts)}


def oracle(ctx, inputs_of_all_ranks):
    own = inputs_of_all_ranks[ctx.rank]
    parts, first = [], 0
    for inputs in inputs_of_all_ranks:
        given = [inputs[name].double() for name in ("mean", "quat", "scale")]
        on_all = project(ctx, *given, own["view"].double(), own["K"].double(), own)
        for camera in range(ctx.dims.C):
            seen = {name: values[camera] for name, values in on_all.items()}
            which = seen["is_seen"].nonzero().squeeze(1)
            parts.append(
                {
                    "camera": torch.full_like(which, camera),
                    "gaussian": which + first,
                    "radii": seen["radii"][which].to(torch.int32),
                    **{name: seen[name][which] for name in ("mean2d", "depth", "conic")},
                    "out_opacity": inputs["opacity"][which],
                    "out_colour": inputs["colour"][which],
                }
            )
        first += len(inputs["mean"])
    rows = {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
    return {"count": torch.tensor(len(rows["camera"])), **rows}
