"""A matrix of floating-point numbers as integers of 8 or 4 bits and their scales.

Integers are computed with the scale as it is stored, so that its rounding costs nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import taeda
from taeda import Tensor
from taeda.nn.functional import pad

__all__ = ["PIECE", "Packed", "Unpackable", "halves", "pack_int4", "pack_int8"]

#: a row is a multiple of so many numbers, and so is a group, but for int8 in groups of half as many
PIECE = 32
_ROWS = 4096  # at a time, so that copies in float32 stay small
_SMALLEST, _LARGEST = 2.0**-14, 65504.0  # of float16 at full precision


class Unpackable(ValueError):
    """A matrix that has no packed form; the message says why, without its name."""


class Packed(NamedTuple):
    """What `_weight_int8_mm` or `_weight_int4_mm` takes."""

    weight: Tensor
    scales: Tensor
    offsets: Tensor | None


def pack_int8(matrix: Tensor, group_size: int | None) -> Packed:
    """int8 from -127 to 127, the largest magnitude of a group over 127 as its scale.

    matrix: (n, k), floating-point. group_size: numbers in a row that share a scale, 16 or a multiple
    of 32 that divides k; None takes whole rows. Raises Unpackable.
    """
    groups = _groups(matrix, group_size)
    scales = _stored([part.abs().amax(-1) / 127 for part in _parts(matrix, groups)])
    integers = _integers(matrix, scales, lambda x, scale: (x / scale).round().clamp(-127, 127))
    return Packed(integers.to(taeda.int8), scales, None)


def pack_int4(matrix: Tensor, group_size: int | None, symmetric: bool) -> Packed:
    """Numbers q from 0 to 15, in halves of bytes.

    symmetric: a number is scale * (q - 8), and the number of largest magnitude in a group has q = 0;
    else it is scale * q + offset, from the smallest number of the group to its largest.
    """
    groups = _groups(matrix, group_size)
    if symmetric:
        scales = _stored([_extreme(part) / -8 for part in _parts(matrix, groups)])
        q = _integers(matrix, scales, lambda x, scale: (x / scale).round().add(8).clamp(0, 15))
        return Packed(halves(q.to(taeda.uint8)), scales, None)
    lowest = taeda.cat([part.amin(-1) for part in _parts(matrix, groups)])
    largest = taeda.cat([part.amax(-1) for part in _parts(matrix, groups)])
    scales = _stored([(largest - lowest) / 15])
    if bool((lowest.abs() > _LARGEST).any()):
        scales = scales.float()
    offsets = lowest.to(scales.dtype)
    shifted = matrix.float() - offsets.float().repeat_interleave(matrix.shape[1] // groups, 1)
    q = _integers(shifted, scales, lambda x, scale: (x / scale).round().clamp(0, 15))
    return Packed(halves(q.to(taeda.uint8)), scales, offsets)


def _groups(matrix: Tensor, group_size: int | None) -> int:
    """How many groups a row has."""
    columns = matrix.shape[1]
    size = columns if group_size is None else group_size
    if matrix.numel() == 0:
        raise Unpackable(f"no numbers: its shape is {tuple(matrix.shape)}")
    if columns % PIECE:
        raise Unpackable(f"rows of {columns} numbers, no multiple of {PIECE}")
    if columns % size:
        raise Unpackable(f"rows of {columns} numbers, no multiple of the group's {size}")
    if matrix.is_meta:
        raise Unpackable("no values: it lies on the device meta")
    if not bool(matrix.isfinite().all()):
        raise Unpackable("numbers that are not finite")
    return columns // size


def _parts(matrix: Tensor, groups: int) -> list[Tensor]:
    """Some rows each, in float32: (rows, groups, numbers)."""
    return [rows.float().unflatten(1, (groups, -1)) for rows in matrix.detach().split(_ROWS)]


def _extreme(part: Tensor) -> Tensor:
    """The number of largest magnitude, with its sign."""
    return part.gather(-1, part.abs().argmax(-1, keepdim=True)).squeeze(-1)


def _stored(parts: list[Tensor]) -> Tensor:
    """As float16; as float32 where float16 would be out of its range or of its precision."""
    values = taeda.cat(parts)
    sizes = values.abs()
    fits = (sizes == 0) | ((sizes >= _SMALLEST) & (sizes <= _LARGEST))
    return values.half() if bool(fits.all()) else values


def _integers(matrix: Tensor, scales: Tensor, divide: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """`divide` of every part of the matrix and its scales; a scale of 0 has nothing but zeros."""
    whole = scales.float()
    whole = taeda.where(whole == 0, 1.0, whole).unsqueeze(-1)
    parts = zip(_parts(matrix, scales.shape[1]), whole.split(_ROWS), strict=True)
    return taeda.cat([divide(part, scale).flatten(1).to(taeda.int16) for part, scale in parts])


def halves(q: Tensor) -> Tensor:
    """128 numbers in 64 bytes: the first 64 are the lower halves. Rows are filled up with zeros."""
    whole = pad(q, (0, -q.shape[1] % 128))
    lower, upper = whole.unflatten(1, (-1, 2, 64)).unbind(2)
    return (lower | upper << 4).flatten(1)
