"""Integers of four or two bits, several in a byte: the first in the lowest."""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda
from taeda import Tensor

__all__ = ["bytes_of", "packed", "unpacked"]


def bytes_of(count: int, bits: int) -> int:
    """How many bytes so many integers take."""
    return -(-count * bits // 8)


def packed(integers: Tensor, bits: int) -> Tensor:
    """Bytes of integers that have so many bits, a byte each; what is left of the last one is 0."""
    flat, each = integers.reshape(-1), 8 // bits
    short = -flat.numel() % each
    if short:
        flat = taeda.cat([flat, flat.new_zeros(short)])
    places = flat.reshape(-1, each)
    made = places[:, 0].clone()
    for at in range(1, each):
        made |= places[:, at] << (bits * at)
    return made


def unpacked(data: Tensor, size: Sequence[int], bits: int) -> Tensor:
    """The integers of these bytes, in a tensor of this size."""
    mask = (1 << bits) - 1
    places = [(data >> shift) & mask for shift in range(0, 8, bits)]
    return taeda.stack(places, 1).reshape(-1)[: math.prod(size)].reshape(tuple(size))
