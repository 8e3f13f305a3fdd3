"""Arithmetic of sliding windows, shared by pools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["sizes_of"]


def sizes_of(name: str, value: Any, count: int) -> tuple[int, ...]:
    """`value` once for each of `count` dimensions, if it is one number.
    Raises RuntimeError for another length.
    """
    if isinstance(value, Sequence):
        if len(value) == 1 and count > 1:
            value = tuple(value) * count
        if len(value) != count:
            raise RuntimeError(
                f"It is expected {name} equals to {count}, but got size {len(value)}"
            )
        return tuple(int(v) for v in value)
    return (int(value),) * count
