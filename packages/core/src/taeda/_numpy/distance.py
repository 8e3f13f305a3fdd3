"""Euclidean distances by |a|^2 + |b|^2 - 2ab."""

from __future__ import annotations

import taeda
from taeda import Tensor

from .._short_floats import rounded_once

__all__ = ["_euclidean_dist"]


@rounded_once
def _euclidean_dist(x1: Tensor, x2: Tensor) -> Tensor:
    """Coordinates are taken relative to the first row of x2, so that a common offset costs no digits."""
    origin = x2.narrow(-2, 0, 1)
    a, b = x1 - origin, x2 - origin
    # squares have half the range: numbers of about 1, by a power of two, which rounds nothing
    power = taeda.maximum(a.abs().amax(), b.abs().amax()).frexp().exponent - 1
    limits = (-1000, 1000) if a.dtype is taeda.float64 else (-100, 126)
    scale = taeda.exp2(power.to(a.dtype).clamp(*limits))
    a, b = a / scale, b / scale
    squares = (a * a).sum(-1, keepdim=True) + (b * b).sum(-1).unsqueeze(-2)
    return (squares - 2 * (a @ b.mT)).clamp_min_(0).sqrt_() * scale
