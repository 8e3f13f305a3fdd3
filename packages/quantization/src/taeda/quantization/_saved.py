"""Quantized tensors as data: for files, pickles and other processes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor

from ._affine import BITS, STORED
from ._make import check_channels, checked_scale
from ._nibbles import bytes_of, unpacked
from ._parts import per_channel, per_tensor

__all__ = ["from_saved"]

_WRONG = (
    "a quantized tensor is made of integers, and of a dtype, a scheme, a scale and a zero point"
)


def from_saved(parts: Sequence[Any], facts: Sequence[Any]) -> Tensor:
    """The tensor of parts (integers, packed where they have four bits; scales and zero points of channels)
    and facts: dtype, scheme, then scale and zero point, or the axis, then the size. ValueError or
    RuntimeError for what makes none.
    """
    words = {str(dtype).rpartition(".")[2]: dtype for dtype in STORED}
    if len(facts) < 3 or facts[0] not in words or not parts or len(parts) not in (1, 3):
        raise ValueError(_WRONG)
    if not all(isinstance(part, Tensor) and _is_plain(part) for part in parts):
        raise ValueError("a quantized tensor is made of plain tensors outside of any graph")
    dtype = words[facts[0]]
    numbers, size = (facts[2:4], facts[4:]) if len(parts) == 1 else (facts[2:3], facts[3:])
    if any(type(n) is not int or n < 0 for n in size):
        raise ValueError("the size of a quantized tensor is a list of ints")
    integers = _integers(parts[0], dtype, tuple(size))
    if len(parts) == 3:
        return _of_channels(integers, parts[1], parts[2], numbers, dtype)
    scale, zero = numbers if len(numbers) == 2 else (None, None)
    if not (isinstance(scale, (int, float)) and type(zero) is int):
        raise ValueError(_WRONG)
    return per_tensor(integers, *checked_scale(float(scale), zero, dtype, "load"), dtype)


def _is_plain(x: Tensor) -> bool:
    return not x.is_quantized and x.layout is taeda.strided and not x.requires_grad


def _integers(x: Tensor, dtype: Any, size: tuple[int, ...]) -> Tensor:
    if x.dtype is not STORED[dtype]:
        raise ValueError(f"integers of {dtype} are stored as {STORED[dtype]}, but got {x.dtype}")
    bits = BITS.get(dtype)
    if bits is not None:
        if x.dim() != 1 or x.numel() != bytes_of(math.prod(size), bits):
            raise ValueError(f"{x.numel()} bytes do not hold {size} numbers of {bits} bits")
        return unpacked(x, size, bits)
    if tuple(x.shape) != size:
        raise ValueError(f"integers of shape {tuple(x.shape)} do not have the size {size}")
    return x


def _of_channels(integers: Tensor, scales: Tensor, zeros: Tensor, axis: Any, dtype: Any) -> Tensor:
    if len(axis) != 1 or type(axis[0]) is not int or not scales.is_floating_point():
        raise ValueError("scales of channels are floats along one axis")
    if not integers.is_meta:
        check_channels(integers, scales, zeros, axis[0], dtype, "load")
    return per_channel(integers, scales, zeros, axis[0], dtype)
