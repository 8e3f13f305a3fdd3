"""Functions of one number on quantized tensors: floats in between, and rounded as PyTorch's kernels do.

The number of an integer is one fused multiply-add, `q * scale + (-scale * zero_point)`; the result is rounded
before its zero point is added.
"""

from __future__ import annotations

from collections.abc import Callable

import taeda
from taeda import Tensor

from ._affine import LIMITS, steps
from ._parts import Quantized, per_tensor
from .rules._registry import one_scale

__all__ = ["fused_floats", "mapped", "normalised"]


def fused_floats(parts: Quantized) -> Tensor:
    """The numbers of integers with one scale, as one fused multiply-add gives them."""
    integers = parts.integers
    scale, zero = (
        taeda.tensor(x, dtype=taeda.float32, device=integers.device)
        for x in (parts.scale, float(parts.zero_point))
    )
    shift = -(scale * zero)
    return (integers.double() * scale.double() + shift.double()).float()


def _table_of(parts: Quantized) -> Quantized | None:
    """All integers of 8 bits, where a tensor has more numbers than there are; None if it has fewer."""
    low, high = LIMITS[parts.dtype]
    if high - low > 255 or parts.integers.numel() <= 4 * (high - low + 1):
        return None
    every = taeda.arange(low, high + 1, device=parts.integers.device)
    return parts.like(every.to(parts.integers.dtype))


def mapped(
    x: Tensor,
    name: str,
    function: Callable[[Tensor], Tensor],
    scale: float | None = None,
    zero: int | None = None,
) -> Tensor:
    """`function` of each number, with the scale of `x` or another one. Of many numbers each integer is
    computed once.
    """
    parts = one_scale(x, name)
    scale = parts.scale if scale is None else float(scale)
    zero = parts.zero_point if zero is None else int(zero)
    table = _table_of(parts)
    made = steps(function(fused_floats(table or parts)), scale, zero, parts.dtype)
    if table is not None:
        low, _ = LIMITS[parts.dtype]
        made = made[parts.integers.to(taeda.int64) - low]
    return per_tensor(made, scale, zero, parts.dtype)


def normalised(
    x: Tensor, name: str, function: Callable[[Tensor], Tensor], scale: float, zero: int
) -> Tensor:
    """`function` of all numbers together, with the scale that is given."""
    parts = one_scale(x, name)
    made = steps(function(fused_floats(parts)), float(scale), int(zero), parts.dtype)
    return per_tensor(made, scale, zero, parts.dtype)
