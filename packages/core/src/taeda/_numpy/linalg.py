"""Linear algebra below the derivative: what csrc/ops/linalg_*.c leaves to products of its results."""

from __future__ import annotations

from taeda import Tensor


def _linalg_pinv(A: Tensor, u: Tensor, inverse: Tensor, vh: Tensor) -> Tensor:
    """`A` is there for the derivative only."""
    return (vh.mH * inverse.unsqueeze(-2)) @ u.mH
