"""Dimensions exchanged in place, by coordinates: the tensor itself gets another shape."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from .._parts import parts_of
from .._resize import become
from ._registry import COO, rule, writes
from .shape import t, transpose

__all__ = ["transpose_"]


def _turn(self: Tensor, made: Any) -> Any:
    """Take over what was made of `self`, if it could be made."""
    return made if made is NotImplemented else become(self, parts_of(made), tuple(made.shape))


@rule("t_", layouts=COO)
def t_(self: Tensor) -> Any:
    writes(self)
    return _turn(self, t(self.detach()))


@rule("transpose_", "swapaxes_", "swapdims_", layouts=COO)
def transpose_(self: Tensor, dim0: int, dim1: int) -> Any:
    writes(self)
    made = transpose(self.detach(), dim0, dim1)
    return _turn(self, made)
