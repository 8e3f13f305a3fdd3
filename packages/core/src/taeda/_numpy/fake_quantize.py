"""Floats to integers of a few steps and back.

Integers are rounded before the zero point is added, half to even, as fake quantization has it
(quantized tensors add it before they round). A number in float64 has a float32 scale.
"""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["_fake_quantize"]


def _fake_quantize(
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: int | None,
    quant_min: int,
    quant_max: int,
) -> tuple[Tensor, Tensor]:
    """NaN becomes quant_min; what is infinite is clamped."""
    wide = taeda.float64 if self.dtype is taeda.float64 else taeda.float32
    scale = _along(scale.float(), self, axis)
    zero, inverse = _along(zero_point, self, axis).to(wide), scale.reciprocal().to(wide)
    floats = zero_point.is_floating_point()
    x = self.to(wide)
    steps = _added(x, inverse, zero).round() if floats else (x * inverse).round() + zero
    mask = (steps >= quant_min).logical_and(steps <= quant_max)
    ends = [
        taeda.full((), float(n), dtype=wide, device=self.device) for n in (quant_min, quant_max)
    ]
    clamped = steps.fmax(ends[0]).fmin(ends[1])
    narrow = axis is None or wide is taeda.float32
    last = taeda.float32 if narrow and not floats else taeda.float64
    made = (clamped.to(last) - zero.to(last)) * scale.to(last)
    return made.to(wide).to(self.dtype), mask  # 16 bits are rounded from float32


def _added(x: Tensor, inverse: Tensor, zero: Tensor) -> Tensor:
    """x * inverse + zero, rounded once: a product of two float32 is exact in float64."""
    return (x.double() * inverse.double() + zero.double()).to(x.dtype)


def _along(x: Tensor, like: Tensor, axis: int | None) -> Tensor:
    """One number for all, or one for each place along `axis`."""
    if axis is None:
        return x.reshape(())
    return x.reshape([-1 if d == axis else 1 for d in range(like.dim())])
