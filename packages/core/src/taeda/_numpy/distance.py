"""Euclidean distances by |a|^2 + |b|^2 - 2ab."""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["_euclidean_dist"]


def _euclidean_dist(x1: Tensor, x2: Tensor) -> Tensor:
    """In float64, which holds the squares of all shorter floats, and more digits of their differences than
    they have themselves.
    """
    dtype = taeda.promote_types(x1.dtype, x2.dtype)
    if dtype is taeda.float64:
        return _of_doubles(x1.double(), x2.double())
    a, b = x1.double(), x2.double()
    squares = (a * a).sum(-1, keepdim=True) + (b * b).sum(-1).unsqueeze(-2)
    return squares.sub_(a @ b.mT, alpha=2).clamp_min_(0).sqrt_().to(dtype)


def _of_doubles(x1: Tensor, x2: Tensor) -> Tensor:
    """Coordinates are taken relative to the middle of x2's rows, so that a common offset costs no digits, and
    every row has a scale of its own: a row with numbers of another size, or with none, changes no other.
    """
    origin = x2.nanmedian(-2, keepdim=True).values
    origin = taeda.where(origin.isfinite(), origin, 0.0)
    (a, p), (b, q) = (_scaled(x - origin) for x in (x1, x2))
    q = q.mT
    common = taeda.maximum(p, q)
    p, q = (taeda.exp2((k - common).to(a.dtype)) for k in (p, q))
    squares = p * p * (a * a).sum(-1, keepdim=True) + q * q * (b * b).sum(-1).unsqueeze(-2)
    squares = squares.sub_(p.mul_(q).mul_(a @ b.mT), alpha=2)
    return squares.clamp_min_(0).sqrt_().mul_(taeda.exp2(common.to(a.dtype)))


def _scaled(x: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of numbers of about 1, and the powers of two that they were divided by, which rounds nothing:
    squares have half the range.
    """
    most = x.abs().amax(-1, keepdim=True)
    power = taeda.where(most.isfinite(), most, 1.0).frexp().exponent - 1
    power = taeda.where(most == 0, -1000, power.clamp(-1000, 1000))
    return x / taeda.exp2(power.to(x.dtype)), power
