"""Sums over the last dimensions."""

from __future__ import annotations

from typing import Any

__all__ = ["sum_rightmost"]


def sum_rightmost(value: Any, dims: int) -> Any:
    """The sum over so many last dimensions; numbers stay what they are."""
    if dims == 0 or not hasattr(value, "sum"):
        return value
    return value.sum(tuple(range(-dims, 0)))
