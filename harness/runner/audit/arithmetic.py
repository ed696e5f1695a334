# SPDX-License-Identifier: Apache-2.0
"""Other arithmetic for an oracle: what honest programs compute in float32, by the same formula.

Whatever a problem compares exactly must come out the same, and what it compares as float within
tolerance. Operations that only compare or move inputs are exact in any arithmetic, so that a fixed
rule for ties among inputs is not disturbed.
"""

import torch
from torch.overrides import TorchFunctionMode

ULPS = 4  # of float32 that a result may be off by
_NARROW = {torch.float64: torch.float32, torch.complex128: torch.complex64}
_CASTS = {torch.Tensor.double: torch.Tensor.float, torch.Tensor.cdouble: torch.Tensor.cfloat}
_ROUNDING = frozenset(
    "add addbmm addcdiv addcmul addmm addmv atan2 baddbmm bmm cos cosh cross_entropy cumprod "
    "cumsum div dot einsum erf exp exp2 expm1 gelu index_add index_reduce layer_norm "
    "linalg_norm linalg_vector_norm log log10 log1p log2 log_softmax logaddexp logcumsumexp "
    "logsigmoid logsumexp matmul mean mm mse_loss mul mv nll_loss norm normalize outer pow prod "
    "radd rdiv reciprocal rms_norm rmul rsqrt rsub rtruediv scaled_dot_product_attention "
    "scatter_add sigmoid silu sin sinh softmax softplus sqrt std sub sum tan tanh tensordot "
    "truediv true_divide var".split()
)


class Float32(TorchFunctionMode):
    """Every float64 that an oracle asks for is a float32."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        func = _CASTS.get(func, func)
        args = [_narrow(value) for value in args]
        return func(*args, **{name: _narrow(value) for name, value in (kwargs or {}).items()})


def _narrow(value):
    return _NARROW.get(value, value) if isinstance(value, torch.dtype) else value


class Float32Steps(TorchFunctionMode):
    """Every result of an arithmetic operation that float32 cannot hold is off by some ulps of it.
    How many follows from the value, so that equal values stay equal."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        is_float64 = isinstance(result, torch.Tensor) and result.dtype == torch.float64
        if not is_float64 or name.strip("_") not in _ROUNDING:
            return result
        is_in_place = name.endswith("_") and not name.endswith("__")
        return result.copy_(_jittered(result)) if is_in_place else _jittered(result)


def _jittered(exact: torch.Tensor) -> torch.Tensor:
    mantissa, _ = torch.frexp(exact.detach())
    ulps = ULPS * (2 * torch.frac(mantissa.abs() * 98765432.1) - 1)
    near = (exact * (1 + ulps * 2.0**-23)).float().double()
    holds = (exact.float().double() == exact) | ~torch.isfinite(near)
    return torch.where(holds, exact, near)


ARITHMETICS = {"in float32": Float32, "in float32, some ulps off": Float32Steps}
