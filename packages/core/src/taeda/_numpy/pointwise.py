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
    wide = self.float() if self.dtype in (taeda.bfloat16, taeda.float16) else self
    mantissa, exponent = np.frexp(wide.numpy())
    made = taeda.from_numpy(np.asarray(mantissa)).to(self.dtype)
    return made, taeda.from_numpy(np.asarray(exponent, dtype=np.int32))
