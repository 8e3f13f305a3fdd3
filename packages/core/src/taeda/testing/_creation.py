"""make_tensor: tensors of any dtype with values in a range."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda._warnings import warn

__all__ = ["make_tensor"]

_INTEGERS = (
    taeda.uint8,
    taeda.int8,
    taeda.int16,
    taeda.int32,
    taeda.int64,
    taeda.uint16,
    taeda.uint32,
    taeda.uint64,
)
_COMPLEX = {
    taeda.complex32: taeda.float16,
    taeda.complex64: taeda.float32,
    taeda.complex128: taeda.float64,
}


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor with values drawn evenly from [low, high).

    The range defaults to [-9, 10) for signed integers, [0, 10) for unsigned ones, [0, 2) for bool,
    [-9, 9) for floating point and for both parts of complex numbers; it is cut to what the dtype
    can hold. `exclude_zero` puts the smallest positive value in place of 0, `noncontiguous` spaces
    the elements out. ValueError for ranges that are empty or outside of the dtype.

    >>> x = taeda.testing.make_tensor((2, 3), dtype=taeda.int32, device="cpu", low=0, high=5)
    >>> x.shape, bool(((x >= 0) & (x < 5)).all())
    (taeda.Size([2, 3]), True)
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous} and memory_format={memory_format}"
        )
    if requires_grad and (dtype is taeda.bool or dtype in _INTEGERS):
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"dtype={dtype}"
        )
    made = _draw(sizes, dtype, device, low, high)
    if exclude_zero:
        made = taeda.where(made == 0, taeda.tensor(_least(dtype), dtype=dtype, device=device), made)
    if noncontiguous and made.numel() > 1:
        made = taeda.stack([made, made], -1).flatten(-2)[..., ::2] if made.ndim else made
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    return made.requires_grad_() if requires_grad else made


def _draw(sizes: Any, dtype: Any, device: Any, low: Any, high: Any) -> Tensor:
    if dtype is taeda.bool:
        bounds = _bounds(dtype, low, high, (0, 2), (0, 2))
        return taeda.randint(*bounds, sizes, device=device).to(dtype)
    if dtype in _INTEGERS:
        info = taeda.iinfo(dtype)
        most = min(info.max + 1, 2**63 - 1)
        bounds = _bounds(dtype, low, high, (0 if info.min == 0 else -9, 10), (info.min, most))
        return taeda.randint(*bounds, sizes, device=device).to(dtype)
    if dtype in _COMPLEX:
        pairs = _draw((*sizes, 2), _COMPLEX[dtype], device, low, high)
        return taeda.view_as_complex(pairs)
    if not getattr(dtype, "is_floating_point", False):
        raise TypeError(f"make_tensor() makes no tensors of dtype {dtype}")
    limits = taeda.finfo(dtype)
    least, most = _bounds(dtype, low, high, (-9, 9), (limits.min, limits.max))
    part = taeda.rand(sizes, dtype=taeda.float64, device=device)
    return (least * (1 - part) + most * part).to(dtype)  # no difference, which could overflow


def _bounds(
    dtype: Any, low: Any, high: Any, usual: tuple[int, int], possible: tuple[float, float]
) -> tuple[Any, Any]:
    """The range asked for, cut to what is possible."""
    low, high = (usual[0] if low is None else low), (usual[1] if high is None else high)
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low} and high={high}")
    integral = not dtype.is_floating_point
    if low > high or (low == high and integral):
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if low == high:
        warn(
            "make_tensor() with low == high makes a constant tensor; use taeda.full() for that",
            FutureWarning,
        )
    least, most = possible
    if high < least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), "
            f"but {dtype} only supports [{least}, {most})"
        )
    low, high = max(low, least), min(high, most)
    return (math.ceil(low), math.ceil(high)) if integral else (low, high)


def _least(dtype: Any) -> Any:
    """The smallest positive value."""
    if dtype in _COMPLEX:
        tiny = taeda.finfo(_COMPLEX[dtype]).tiny
        return complex(tiny, tiny)
    return taeda.finfo(dtype).tiny if dtype.is_floating_point else 1
