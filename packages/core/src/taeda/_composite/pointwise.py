"""Elementwise operations written in terms of others."""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["isreal", "ldexp", "positive"]


def ldexp(self: Tensor, other: Tensor) -> Tensor:
    """Product with a power of two."""
    return taeda.mul(self, taeda.pow(2.0, other))


def positive(self: Tensor) -> Tensor:
    """The tensor itself."""
    if self.dtype is taeda.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


def isreal(self: Tensor) -> Tensor:
    """True for real dtypes and wherever the imaginary part is 0."""
    if self.is_complex():
        return taeda.imag(self) == 0
    return taeda.ones_like(self, dtype=taeda.bool)
