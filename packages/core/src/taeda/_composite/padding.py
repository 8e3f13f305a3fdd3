"""Borders, written as a copy into a larger tensor."""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor

__all__ = ["constant_pad_nd"]


def constant_pad_nd(self: Tensor, pad: Sequence[int], value: float) -> Tensor:
    """`self` in the middle of a tensor filled with `value`; negative widths cut. RuntimeError for odd or too long `pad`."""
    if len(pad) % 2 or len(pad) > 2 * self.dim():
        raise RuntimeError(
            f"constant_pad_nd: wanted an even number of widths, at most {2 * self.dim()}, got {list(pad)}"
        )
    before = [0] * (self.dim() - len(pad) // 2) + list(pad[-2::-2])
    after = [0] * (self.dim() - len(pad) // 2) + list(pad[-1::-2])
    sizes = [s + b + a for s, b, a in zip(self.shape, before, after, strict=True)]
    if any(size < 0 for size in sizes):
        raise RuntimeError(
            f"constant_pad_nd: pad {list(pad)} of shape {list(self.shape)} would leave sizes {sizes}"
        )
    made = taeda.full(sizes, value, dtype=self.dtype, device=self.device)
    target, source = made, self
    for dim, (b, a) in enumerate(zip(before, after, strict=True)):
        target = target.narrow(dim, max(b, 0), sizes[dim] - max(b, 0) - max(a, 0))
        source = source.narrow(dim, max(-b, 0), self.shape[dim] - max(-b, 0) - max(-a, 0))
    target.copy_(source)
    return made
