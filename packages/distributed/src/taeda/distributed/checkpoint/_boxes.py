"""Boxes of a tensor: what two have in common, and whether some fill a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda

from .metadata import ChunkStorageMetadata

__all__ = ["common", "fault_of", "whole"]


def whole(size: Sequence[int]) -> ChunkStorageMetadata:
    """The box that is all of a tensor."""
    return ChunkStorageMetadata(taeda.Size([0] * len(size)), taeda.Size(size))


def common(
    one: ChunkStorageMetadata, other: ChunkStorageMetadata
) -> tuple[list[int], list[int]] | None:
    """Offset and size of what both contain; None for nothing."""
    begin = [max(a, b) for a, b in zip(one.offsets, other.offsets, strict=True)]
    ends = [
        min(a + n, b + m)
        for a, n, b, m in zip(one.offsets, one.sizes, other.offsets, other.sizes, strict=True)
    ]
    sizes = [end - first for first, end in zip(begin, ends, strict=True)]
    return (begin, sizes) if all(size > 0 for size in sizes) else None


def fault_of(size: Sequence[int], boxes: Sequence[ChunkStorageMetadata]) -> str | None:
    """What is wrong with boxes that should fill a tensor once; None if nothing is."""
    for box in boxes:
        if len(box.offsets) != len(size) or len(box.sizes) != len(size):
            return f"the box at {tuple(box.offsets)} has another number of dimensions"
        if any(
            offset < 0 or count < 0 or offset + count > bound
            for offset, count, bound in zip(box.offsets, box.sizes, size, strict=True)
        ):
            return f"the box at {tuple(box.offsets)} of size {tuple(box.sizes)} lies outside"
    filled = sum(math.prod(box.sizes) for box in boxes)
    if filled < math.prod(size) or not boxes:
        return f"its boxes hold {filled} of {math.prod(size)} elements"
    return _overlap(boxes)


def _overlap(boxes: Sequence[ChunkStorageMetadata]) -> str | None:
    """Two boxes that share elements, in words. Sorted by their rows, few boxes are compared."""
    rows = sorted(
        (box for box in boxes if math.prod(box.sizes)), key=lambda box: tuple(box.offsets)
    )
    open_: list[ChunkStorageMetadata] = []
    for box in rows:
        first = box.offsets[0] if box.offsets else 0
        open_ = [o for o in open_ if not o.offsets or o.offsets[0] + o.sizes[0] > first]
        for other in open_:
            if common(box, other) is not None:
                return f"the boxes at {tuple(other.offsets)} and {tuple(box.offsets)} overlap"
        open_.append(box)
    return None
