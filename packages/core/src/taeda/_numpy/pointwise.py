"""Elementwise operations that numpy computes."""

from __future__ import annotations

import numpy as np

import taeda
from taeda import Tensor

__all__ = ["frexp"]


def frexp(self: Tensor) -> tuple[Tensor, Tensor]:
    """Exponents are int32; NaN and infinities have themselves as mantissa."""
    if not self.is_floating_point():
        raise RuntimeError(f"frexp() only supports floating-point dtypes, got {self.dtype}")
    if self.is_meta:
        return taeda.empty_like(self), taeda.empty_like(self, dtype=taeda.int32)
    dtype = self.dtype
    known = dtype is taeda.float32 or dtype is taeda.float64
    mantissa, exponent = np.frexp((self if known else self.float()).numpy())
    if not self.dim():  # numpy gives numbers
        mantissa, exponent = np.asarray(mantissa), np.asarray(exponent)
    made = taeda.from_numpy(mantissa)
    return made if known else made.to(dtype), taeda.from_numpy(exponent)
