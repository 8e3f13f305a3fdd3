"""The Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Size, Tensor

from ._symmetric import Symmetric

__all__ = ["Cauchy"]


class Cauchy(Symmetric):
    """Cauchy (Lorentz) with median `loc` and half width `scale`; it has neither mean nor variance.

    The parameters broadcast to the batch's shape. ValueError where one lies outside of its
    set.

    Args:
        loc: the mean, or the place of the peak; a number or a float tensor
        scale: the spread, above 0; a number or a float tensor that broadcasts with the other
            parameters
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Cauchy
    >>> Cauchy(0.0, 1.0).cdf(taeda.tensor(1.0))
    tensor(0.7500)
    """

    @property
    def mean(self) -> Tensor:
        """NaN everywhere."""
        return taeda.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return taeda.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        noise = self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + noise * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - (z**2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return taeda.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return taeda.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()
