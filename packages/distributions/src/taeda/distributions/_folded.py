"""Symmetric distributions folded at 0: what HalfNormal and HalfCauchy share."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform

__all__ = ["Folded"]


class Folded(TransformedDistribution):
    """Absolute values of a distribution that is symmetric around 0.

    Args:
        base: the distribution that is folded
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on
    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    base_dist: Any

    def __init__(self, base: Any, validate_args: bool | None) -> None:
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The width of the unfolded distribution."""
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        return taeda.zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        folded = self.base_dist.log_prob(value) + math.log(2)
        return taeda.where(value >= 0, folded, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(self._inside(value)) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
