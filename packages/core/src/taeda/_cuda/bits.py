"""What is made of the bits of floating-point numbers, by the device's own rows: exact, as on the
processor.
"""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["ROWS"]

#: digits of the fraction, the exponent of numbers from 1/2 to 1 as it is stored, all of its bits
_PARTS = {
    taeda.float32: (23, 126, 0xFF, taeda.int32),
    taeda.float64: (52, 1022, 0x7FF, taeda.int64),
}


def frexp(self: Tensor) -> tuple[Tensor, Tensor]:
    """Exponents are int32; zero, NaN and infinities have themselves as mantissa, and exponent 0."""
    x = self if self.dtype in _PARTS else self.float()
    digits, half, ones, whole = _PARTS[x.dtype]
    plain = x.isfinite() & (x != 0)
    tiny = x.abs() < taeda.finfo(x.dtype).tiny  # these have no leading one: made larger first
    bits = taeda.where(tiny, x * 2.0 ** (digits + 1), x).view(whole)
    exponent = ((bits >> digits) & ones) - half - taeda.where(tiny, digits + 1, 0)
    mantissa = ((bits & ~(ones << digits)) | (half << digits)).view(x.dtype)
    made = taeda.where(plain, mantissa, x).to(self.dtype)
    return made, taeda.where(plain, exponent, 0).to(taeda.int32)


ROWS = {"frexp": frexp}
