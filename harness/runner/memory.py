# SPDX-License-Identifier: Apache-2.0
"""The judge's memory regions as torch tensors, without a copy.

Mapping is done by the judge's own C code (build/lib/libpkbregion.so, and libpkbcuda.so for memory
of a GPU), so that both sides agree on sizes and seals.
"""

import ctypes
import functools
import math
import os

import torch

from harness.runner.problem import ROOT

ALIGN_BYTES = 256  # of every argument, PKB_ARGUMENT_ALIGN
# What outputs hold before a reference runs: NaN in every float dtype. A number that it leaves there
# would count as its own error, of which an attempt may have as much.
UNWRITTEN = 0xFF

TORCH_DTYPES = {
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
    "f64": torch.float64,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i32": torch.int32,
    "i64": torch.int64,
    "bool": torch.bool,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "c64": torch.complex64,
}
_ORACLE_DTYPES = {
    "bf16": torch.float64,
    "f16": torch.float64,
    "f32": torch.float64,
    "f64": torch.float64,
    "c64": torch.complex128,
}


class MemoryFault(RuntimeError):
    """A region cannot be mapped or a view does not fit into it."""


def oracle_dtype(dtype: str) -> torch.dtype:
    """What an oracle area holds for an output: float64, complex128, or the dtype itself."""
    return _ORACLE_DTYPES.get(dtype, TORCH_DTYPES[dtype])


def bytes_of(shape: list[int] | tuple[int, ...], dtype: torch.dtype) -> int:
    return math.prod(shape) * dtype.itemsize


def load_library(name: str) -> ctypes.CDLL:
    """A library of ours. PKBENCH_LIB names another folder than build/lib."""
    folder = os.environ.get("PKBENCH_LIB", str(ROOT / "build" / "lib"))
    path = os.path.join(folder, name)
    try:
        return ctypes.CDLL(path, use_errno=True)
    except OSError as error:
        raise MemoryFault(f"cannot load {path} (make build/lib/{name}): {error}") from None


@functools.cache
def library() -> ctypes.CDLL:
    """The judge's memory code."""
    loaded = load_library("libpkbregion.so")
    loaded.pkb_region_map.argtypes = [ctypes.c_int, ctypes.c_size_t]
    loaded.pkb_region_map.restype = ctypes.c_void_p
    loaded.pkb_region_unmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    loaded.pkb_region_unmap.restype = ctypes.c_int
    return loaded


@functools.cache
def cuda_library() -> ctypes.CDLL:
    """The same for GPUs, in the context that torch uses."""
    loaded = load_library("libpkbcuda.so")
    loaded.pkb_cuda_map.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_uint64]
    loaded.pkb_cuda_map.restype = ctypes.c_uint64
    loaded.pkb_cuda_unmap.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64]
    loaded.pkb_cuda_unmap.restype = None
    loaded.pkb_cuda_reason.restype = ctypes.c_char_p
    return loaded


class Region:
    """One mapped region. Its views must not be used after close."""

    def __init__(self, fd: int, size_bytes: int, device: str = "cpu"):
        """Maps `size_bytes` of `fd`, which stays the caller's. MemoryFault on failure."""
        if device not in ("cpu", "cuda"):
            raise MemoryFault(f"the runner cannot map memory of device '{device}'")
        self._gpu = torch.cuda.current_device() if device == "cuda" else None
        self.size_bytes = size_bytes
        self.address = self._map(fd)
        if self._gpu is None:
            buffer = (ctypes.c_char * size_bytes).from_address(self.address)
            self._bytes = torch.frombuffer(buffer, dtype=torch.uint8)
        else:
            self._bytes = torch.as_tensor(_DeviceBytes(self.address, size_bytes), device="cuda")
            if self._bytes.data_ptr() != self.address:
                raise MemoryFault("torch copied a region instead of using it")

    def _map(self, fd: int) -> int:
        if self._gpu is None:
            address = library().pkb_region_map(fd, self.size_bytes)
            reason = os.strerror(ctypes.get_errno())
        else:
            address = cuda_library().pkb_cuda_map(self._gpu, fd, self.size_bytes)
            reason = cuda_library().pkb_cuda_reason().decode()
        if not address:
            raise MemoryFault(f"cannot map {self.size_bytes} bytes of descriptor {fd}: {reason}")
        return address

    def view(self, offset: int, shape: list[int] | tuple[int, ...], dtype: torch.dtype):
        """Tensor of `shape` at `offset` bytes; writes go to the region. MemoryFault if outside."""
        end = offset + bytes_of(shape, dtype)
        if offset < 0 or end > self.size_bytes or offset % dtype.itemsize:
            raise MemoryFault(f"bytes {offset} to {end} do not fit into {self.size_bytes} bytes")
        return self._bytes[offset:end].view(dtype).view(shape)

    def close(self) -> None:
        if not self.address:
            return
        self._bytes = None
        if self._gpu is None:
            library().pkb_region_unmap(self.address, self.size_bytes)
        else:
            torch.cuda.synchronize(self._gpu)
            cuda_library().pkb_cuda_unmap(self._gpu, self.address, self.size_bytes)
        self.address = 0


class _DeviceBytes:
    """Memory of a GPU as torch takes it from others; every other dtype is a view of its bytes."""

    def __init__(self, address: int, size_bytes: int):
        self.__cuda_array_interface__ = {
            "shape": (size_bytes,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }
