"""Elementwise operations written in terms of others."""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["float_power", "isreal", "ldexp", "positive"]


def float_power(self: Tensor, exponent: Tensor) -> Tensor:
    """The power in float64, or complex128 if either operand is complex."""
    if not isinstance(self, Tensor) and not isinstance(exponent, Tensor):
        raise TypeError("float_power(): one of the operands must be a Tensor, but both are numbers")
    complex_ = any(
        x.is_complex() if isinstance(x, Tensor) else isinstance(x, complex)
        for x in (self, exponent)
    )
    dtype = taeda.complex128 if complex_ else taeda.float64
    base = self.to(dtype) if isinstance(self, Tensor) else taeda.tensor(self, dtype=dtype)
    power = exponent.to(dtype) if isinstance(exponent, Tensor) else exponent
    return taeda.pow(base, power)


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
