"""The order of bytes in numbers."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

__all__ = ["swap_bytes"]


def swap_bytes(data: Tensor, dtype: Any) -> Tensor:
    """A copy of the bytes of numbers of a dtype, with those of each number in reverse."""
    item = dtype.itemsize // (2 if dtype.is_complex else 1)
    return data.view(-1, item).flip(1).flatten() if item > 1 else data
