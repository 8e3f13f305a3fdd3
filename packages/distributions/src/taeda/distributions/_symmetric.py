"""Distributions on the real line that are symmetric around `loc`: what Normal, Laplace and Cauchy
share.
"""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Symmetric"]


class Symmetric(Distribution):
    """A distribution with the centre `loc` and the width `scale`, which broadcast to the batch's shape.

    Args:
        loc: the mean, or the place of the peak; a number or a float tensor
        scale: the spread, above 0; a number or a float tensor that broadcasts with the other
            parameters
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _dims = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc
