# SPDX-License-Identifier: Apache-2.0
"""Process groups of a world: all ranks, and along each axis of a grid."""

import os
import warnings
from datetime import timedelta

import torch.distributed as dist

from harness.runner.resolve import Grid


class Groups:
    """Makes the world's group once and the groups of grids when they are first needed."""

    def __init__(self, rank: int, world: int, store: str, timeout_s: float, device: str = "cpu"):
        """Meets the other ranks through the FileStore at path `store`; collective."""
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
        # Multicast can take the GPUs of a shared host out of service.
        os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
        # The same collectives have newer names from torch 2.12 on; the old ones exist everywhere.
        warnings.filterwarnings("ignore", message=".*all_gather_into_tensor.*")
        warnings.filterwarnings("ignore", message=".*reduce_scatter_tensor.*")
        self._rank = rank
        self._world = world
        self._timeout = timedelta(seconds=timeout_s)
        dist.init_process_group(
            "nccl" if device == "cuda" else "gloo",
            store=dist.FileStore(store, world),
            rank=rank,
            world_size=world,
            timeout=self._timeout,
        )
        self._made = {tuple(range(world)): dist.group.WORLD}

    def of(self, grid: Grid) -> dict:
        """This rank's group along each axis, and under "" that of all. Collective: all ranks ask
        for the same grids in the same order."""
        result = {"": dist.group.WORLD}
        for axis in grid.axes:
            for ranks in sorted({grid.ranks_along(axis, rank) for rank in range(self._world)}):
                if ranks not in self._made:
                    self._made[ranks] = dist.new_group(list(ranks), timeout=self._timeout)
            result[axis] = self._made[grid.ranks_along(axis, self._rank)]
        return result
