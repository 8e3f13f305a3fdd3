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
    """A distribution with the centre `loc` and the width `scale`, which broadcast to the batch's shape."""

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
