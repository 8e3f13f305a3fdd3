"""Elementwise operations written in terms of others."""

from __future__ import annotations

import math

import taeda
from taeda import Tensor
from taeda._short_floats import rounded_once

__all__ = ["conj_physical", "isreal", "ldexp", "mvlgamma", "positive"]


@rounded_once
def ldexp(self: Tensor, other: Tensor) -> Tensor:
    """Product with a power of two."""
    return taeda.mul(self, taeda.pow(2.0, other))


def positive(self: Tensor) -> Tensor:
    """The tensor itself."""
    if self.dtype is taeda.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


def conj_physical(self: Tensor) -> Tensor:
    """The tensor itself unless it is complex."""
    return taeda._conj_physical(self) if self.is_complex() else self


def isreal(self: Tensor) -> Tensor:
    """True for real dtypes and wherever the imaginary part is 0."""
    if self.is_complex():
        return taeda.imag(self) == 0
    return taeda.ones_like(self, dtype=taeda.bool)


def mvlgamma(self: Tensor, p: int) -> Tensor:
    """The sum of lgamma(x - j / 2) for j below p, and a constant."""
    if p < 1:
        raise RuntimeError(f"mvlgamma: p has to be greater than or equal to 1, got {p}")
    if self.dtype is taeda.bool:
        raise RuntimeError("mvlgamma: The input tensor may not be a boolean tensor.")
    dtype = self.dtype if self.is_floating_point() else taeda.get_default_dtype()
    steps = taeda.arange(1 - p, 1, dtype=dtype, device=self.device) / 2
    return (self.unsqueeze(-1) + steps).lgamma().sum(-1) + p * (p - 1) / 4 * math.log(math.pi)
