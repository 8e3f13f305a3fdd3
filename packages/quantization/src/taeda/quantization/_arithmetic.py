"""Sums, products and joins of quantized tensors with a scale of their own, rounded as PyTorch rounds."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor

from ._activations import fused_floats
from ._affine import LIMITS, STORED, integers_of, steps
from ._parts import Quantized, per_tensor
from .rules._registry import one_scale

__all__ = ["add", "add_scalar", "cat", "matmul", "mul", "mul_scalar"]

_F32 = taeda.float32


def _pair(a: Tensor, b: Tensor, name: str) -> tuple[Quantized, Quantized]:
    one, other = one_scale(a, name), one_scale(b, name)
    if one.dtype is not other.dtype:
        raise RuntimeError(f"{name}: wanted one dtype, but got {one.dtype} and {other.dtype}")
    return one, other


def _clamped(integers: Tensor, zero: int, relu: bool) -> Tensor:
    return integers.clamp(min=zero) if relu else integers


def add(a: Tensor, b: Tensor, scale: float, zero: int, relu: bool = False) -> Tensor:
    """a + b of two quantized tensors, with this scale."""
    one, other = _pair(a, b, "quantized add")
    total = fused_floats(one) + fused_floats(other)
    return per_tensor(
        _clamped(steps(total, scale, zero, one.dtype), zero, relu), scale, zero, one.dtype
    )


def mul(a: Tensor, b: Tensor, scale: float, zero: int, relu: bool = False) -> Tensor:
    """a * b of two quantized tensors, with this scale: a product of integers, rounded once."""
    one, other = _pair(a, b, "quantized mul")
    left, right = (part.integers.to(taeda.int32) - part.zero_point for part in (one, other))
    sx, sy, sz = (taeda.tensor(s, dtype=_F32) for s in (one.scale, other.scale, scale))
    factor = sx * sy * sz.reciprocal()
    low, high = LIMITS[one.dtype]
    rounded = ((left * right).float() * factor).round() + float(zero)
    integers = rounded.clamp(max(low, zero) if relu else low, high).to(STORED[one.dtype])
    return per_tensor(integers, scale, zero, one.dtype)


def cat(tensors: Any, dim: int, scale: float, zero: int, relu: bool = False) -> Tensor:
    """Quantized tensors one after the other, with this scale."""
    parts = [one_scale(x, "quantized cat") for x in tensors]
    made = [
        part.integers
        if (part.scale, part.zero_point) == (scale, zero)
        else integers_of(part.floats(), scale, zero, part.dtype)
        for part in parts
    ]
    return per_tensor(_clamped(taeda.cat(made, dim), zero, relu), scale, zero, parts[0].dtype)


def matmul(a: Tensor, b: Tensor, scale: float, zero: int) -> Tensor:
    """a @ b of two quantized tensors, with this scale."""
    one, other = _pair(a, b, "quantized matmul")
    left, right = ((p.integers.to(taeda.int64) - p.zero_point).double() for p in (one, other))
    sums = (left @ right).float()  # exact: below 2^53
    sx, sy, sz = (taeda.tensor(s, dtype=_F32) for s in (one.scale, other.scale, scale))
    low, high = LIMITS[one.dtype]
    rounded = (sums * (sx * sy / sz)).round() + float(zero)
    return per_tensor(rounded.clamp(low, high).to(STORED[one.dtype]), scale, zero, one.dtype)


def add_scalar(a: Tensor, number: float, relu: bool = False) -> Tensor:
    """a + number: another zero point, and another scale where that does not reach."""
    part = one_scale(a, "quantized add_scalar")
    low, high = LIMITS[part.dtype]
    shift = _rounded(number / part.scale)
    scale, zero, integers = part.scale, part.zero_point - shift, part.integers
    if not low <= zero <= high:
        end, zero = (high, low) if zero < low else (low, high)
        wide = abs((end - (part.zero_point - shift)) / (high - low))
        scale = wide * part.scale
        moved = (part.integers.to(taeda.int64) - (part.zero_point - shift)).float()
        before, after = (taeda.tensor(x, dtype=_F32) for x in (part.scale, scale))
        factor = before * after.reciprocal()
        integers = ((moved * factor).round() + float(zero)).clamp(low, high).to(STORED[part.dtype])
    return per_tensor(_clamped(integers, zero, relu), scale, zero, part.dtype)


def _rounded(x: float) -> int:
    """Half to even; RuntimeError for no number."""
    if not math.isfinite(x):
        raise RuntimeError(f"quantized add_scalar: wanted a finite number, but got {x} steps")
    return round(x)


def mul_scalar(a: Tensor, number: float, relu: bool = False) -> Tensor:
    """a * number: another scale; of a negative number the integers are mirrored, of 0 they are 0."""
    part = one_scale(a, "quantized mul_scalar")
    low, high = LIMITS[part.dtype]
    if not math.isfinite(number):
        raise RuntimeError(f"quantized mul_scalar: wanted a finite number, but got {number}")
    if number > 0:
        scale, zero, integers = part.scale * number, part.zero_point, part.integers
    elif number == 0:
        scale, zero, integers = 1.0, 0, taeda.zeros_like(part.integers)
    else:
        scale, zero = part.scale * -number, high - (part.zero_point - low)
        integers = (low + high - part.integers.to(taeda.int64)).to(STORED[part.dtype])
    return per_tensor(_clamped(integers, zero, relu), scale, zero, part.dtype)
