"""Closeness and equality of whole tensors."""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["allclose", "equal", "isclose"]


def isclose(self: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> Tensor:
    """Elementwise closeness; RuntimeError for different dtypes or negative tolerances."""
    if self.dtype is not other.dtype:
        raise RuntimeError(
            f"isclose: expected both tensors to have one dtype, got {self.dtype} and {other.dtype}"
        )
    if rtol < 0 or atol < 0:
        raise RuntimeError(
            f"isclose: rtol and atol must be greater than or equal to zero, but got {rtol} and {atol}"
        )
    close = self == other
    if equal_nan and (self.is_floating_point() or self.is_complex()):
        close = close | (self.isnan() & other.isnan())
    if rtol == 0 and atol == 0:
        return close
    left, right = (
        (self, other)
        if self.is_floating_point() or self.is_complex()
        else (self.double(), other.double())
    )
    difference = (left - right).abs()
    return close | (difference.isfinite() & (difference <= atol + (rtol * right).abs()))


def allclose(self: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> bool:
    """Whether all elements are close."""
    return bool(isclose(self, other, rtol, atol, equal_nan).all())


def equal(self: Tensor, other: Tensor) -> bool:
    """Whether shapes and elements agree; dtypes may differ."""
    if self.shape != other.shape:
        return False
    if self.device.type == "meta" or other.device.type == "meta":
        raise NotImplementedError("equal: meta tensors have no values to compare")
    return bool((self == other).all()) if taeda.numel(self) else True
