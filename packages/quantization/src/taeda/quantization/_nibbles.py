"""Integers of four bits, two in a byte: the first in the low half."""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor

__all__ = ["packed", "unpacked"]


def packed(integers: Tensor) -> Tensor:
    """Bytes (half the numbers, rounded up) of integers from 0 to 15, a byte each."""
    flat = integers.reshape(-1)
    if flat.numel() % 2:
        flat = taeda.cat([flat, flat.new_zeros(1)])
    pairs = flat.reshape(-1, 2)
    return pairs[:, 0] | (pairs[:, 1] << 4)


def unpacked(data: Tensor, size: Sequence[int]) -> Tensor:
    """The integers of these bytes, in a tensor of this size."""
    pairs = taeda.stack([data & 15, data >> 4], 1).reshape(-1)
    count = 1
    for n in size:
        count *= n
    return pairs[:count].reshape(tuple(size))
