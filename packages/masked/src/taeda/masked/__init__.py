"""Reductions and normalisations that leave elements out: those where a mask is False.

>>> import taeda
>>> x = taeda.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
>>> mask = taeda.tensor([[True, False, True], [False, True, True]])
>>> taeda.masked.mean(x, 1, mask=mask)
tensor([2.0000, 5.5000])

A function is called as its namesake without a mask, and takes `mask`: bools that broadcast to the input,
True for what counts. Where nothing counts, sums are 0, products 1, largest values the least of the dtype,
means NaN.
"""

from . import _ops
from . import rules as _rules
from ._ops import *  # noqa: F403 - that module names what it gives
from ._tensor import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

_rules.load()

__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]
__all__ += _ops.__all__
