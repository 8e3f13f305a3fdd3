"""Where windows of pooling begin and end along an axis, and what they count as in a divisor."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from taeda._core_api.layouts import arguments_by_name

__all__ = ["MOST", "Axis", "Windows", "adaptive", "places", "strided"]

#: places of a window that are summed in int32 at most, as core has it
MOST = 1 << 22


class Axis(NamedTuple):
    """Of each output along an axis three numbers: where its window begins and ends, and what it counts as."""

    numbers: tuple[int, ...]
    most: int  # places of the longest window, or what it counts as


class Windows(NamedTuple):
    """All axes, and a divisor for all windows, or 0."""

    axes: list[Axis]
    divisor: int


def places(axes: Sequence[Axis]) -> int:
    """Of the largest window, with what counts as places."""
    return math.prod(axis.most for axis in axes)


def _axis_of(spans: Iterable[tuple[int, int, int]]) -> Axis:
    spans = list(spans)
    most = max(max(end - first, count) for first, end, count in spans)
    return Axis(tuple(n for span in spans for n in span), most)


def _numbers(value: Any, rank: int) -> list[int]:
    found = list(value) if isinstance(value, (list, tuple)) else [value]
    return found * rank if len(found) == 1 else found


@functools.lru_cache(256)
def _steps(size: int, out: int, window: int, stride: int, pad: int, with_pad: bool) -> Axis:
    def span(first: int) -> tuple[int, int, int]:
        begin, end = max(first, 0), min(first + window, size)
        return begin, end, min(first + window, size + pad) - first if with_pad else end - begin

    return _axis_of(span(i * stride - pad) for i in range(out))


@functools.lru_cache(256)
def _parts(size: int, out: int) -> Axis:
    ends = [(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]
    return _axis_of((first, end, end - first) for first, end in ends)


def strided(
    row: str, sizes: Sequence[int], out: Sequence[int], args: Sequence[Any]
) -> Windows | None:
    """Windows of a max_pool or avg_pool row; None if they are dilated."""
    given, rank = arguments_by_name(row, (None, *args)), len(sizes)
    if {1} != set(_numbers(given.get("dilation", 1), rank)):
        return None
    windows = _numbers(given["kernel_size"], rank)
    strides = _numbers(given.get("stride") or windows, rank)
    pads = _numbers(given.get("padding", 0), rank)
    with_pad = given.get("count_include_pad", True)
    axes = [
        _steps(*numbers, with_pad)
        for numbers in zip(sizes, out, windows, strides, pads, strict=True)
    ]
    return Windows(axes, given.get("divisor_override") or 0)


def adaptive(
    row: str, sizes: Sequence[int], out: Sequence[int], args: Sequence[Any]
) -> Windows | None:
    """Windows of an adaptive row: parts of nearly equal size. None without outputs."""
    if 0 in out:
        return None
    return Windows([_parts(*numbers) for numbers in zip(sizes, out, strict=True)], 0)
