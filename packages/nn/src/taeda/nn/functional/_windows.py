"""Arithmetic of sliding windows, shared by convolutions, pools, unfold and fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["blocks", "sizes_of"]


def sizes_of(name: str, value: Any, count: int) -> tuple[int, ...]:
    """`value` once for each of `count` dimensions, if it is one number. Raises RuntimeError for another length."""
    if isinstance(value, Sequence):
        if len(value) == 1 and count > 1:
            value = tuple(value) * count
        if len(value) != count:
            raise RuntimeError(f"It is expected {name} equals to {count}, but got size {len(value)}")
        return tuple(int(v) for v in value)
    return (int(value),) * count


def blocks(
    size: Sequence[int],
    kernel: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> tuple[int, ...]:
    """How many windows fit along each dimension."""
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(size, kernel, dilation, padding, stride, strict=True)
    )
