"""Activation functions written in terms of other operations."""

from __future__ import annotations

from taeda import Tensor

__all__ = ["softsign", "tanhshrink"]


def softsign(self: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return self / (self.abs() + 1)


def tanhshrink(self: Tensor) -> Tensor:
    """x - tanh(x)."""
    return self - self.tanh()
