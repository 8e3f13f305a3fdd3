"""Short words for dual tensors."""

from __future__ import annotations

import taeda
from taeda.autograd.forward_ad import unpack_dual

DTYPE = taeda.float64


def values(*numbers: float) -> taeda.Tensor:
    """A vector in double precision."""
    return taeda.tensor(numbers, dtype=DTYPE)


def tangent(of):
    """The tangent of a tensor, or None."""
    return unpack_dual(of).tangent


def same(found, *numbers):
    """There is a tensor, and these are its numbers."""
    assert found is not None
    assert taeda.equal(found.detach(), values(*numbers))
