"""Distances between many rows, by one product of matrices: |a - b|² = |a|² + |b|² - 2 a·b."""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["_euclidean_dist"]

SAMPLED = 9  # rows of x2 that tell what all have in common
#: the squares of such numbers are far from both ends of the type
ORDINARY = {taeda.float32: (2.0**-40, 2.0**60), taeda.float64: (2.0**-400, 2.0**400)}


def _euclidean_dist(x1: Tensor, x2: Tensor) -> Tensor:
    """Ordinary numbers in their own type, 16-bit ones in float32. Others in float64, which holds the squares
    of all shorter floats. On a device nobody waits to look at the numbers.
    """
    dtype = taeda.promote_types(x1.dtype, x2.dtype)
    working = dtype if dtype is taeda.float64 else taeda.float32
    if x1.is_cpu:
        a, b = _without_offset(x1.to(working), x2.to(working))
        least, most = ORDINARY[working]
        if all(least < _most(x) < most for x in (a, b)):
            return _by_product(a, b).to(dtype)
    if dtype is taeda.float64:
        return _of_doubles(x1.double(), x2.double())
    return _by_product(x1.double(), x2.double()).to(dtype)


def _most(x: Tensor) -> float:
    """The largest size of a number; NaN if there is one."""
    return x.abs().amax().item()


def _by_product(a: Tensor, b: Tensor) -> Tensor:
    """[-2a, |a|², 1] times [b, 1, |b|²]."""
    (a, of_a), (b, of_b) = _squared(a), _squared(b)
    one = a.new_ones(())
    left = taeda.cat((a * -2, of_a, one.expand(*a.shape[:-1], 1)), -1)
    right = taeda.cat((b, one.expand(*b.shape[:-1], 1), of_b), -1)
    return (left @ right.mT).clamp_min_(0).sqrt_()


def _squared(x: Tensor) -> tuple[Tensor, Tensor]:
    """Rows and their squares. A row with infinities is far from all others: without numbers in the product,
    where infinities of two signs would meet.
    """
    squares = (x * x).sum(-1, keepdim=True)
    return taeda.where(squares.isinf(), 0.0, x), squares


def _without_offset(x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
    """Both relative to what the rows of x2 have in common, so that an offset costs no digits; as they are, if
    that makes any row much larger.
    """
    origin = _middle(x2[..., :: max(1, x2.size(-2) // SAMPLED), :])
    moved = x1 - origin, x2 - origin
    for x, y in zip((x1, x2), moved, strict=True):
        if not (y.abs().amax(-1) <= 4 * x.abs().amax(-1)).all():
            return x1, x2
    return moved


def _middle(x: Tensor) -> Tensor:
    """The median of rows, which a few odd ones do not move; 0 where most of them are no numbers."""
    origin = x.nanmedian(-2, keepdim=True).values
    return taeda.where(origin.isfinite(), origin, 0.0)


def _of_doubles(x1: Tensor, x2: Tensor) -> Tensor:
    """Every row has a scale of its own: a row of another size, or without numbers, changes no other."""
    origin = _middle(x2)
    (a, p), (b, q) = (_scaled(x - origin) for x in (x1, x2))
    q = q.mT
    common = taeda.maximum(p, q)
    p, q = (taeda.exp2((k - common).to(a.dtype)) for k in (p, q))
    (a, of_a), (b, of_b) = _squared(a), _squared(b)
    squares = p * p * of_a + q * q * of_b.mT
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
