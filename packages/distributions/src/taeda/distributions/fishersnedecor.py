"""The F distribution of Fisher and Snedecor."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from .distribution import Distribution
from .gamma import Gamma
from .utils import broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The ratio of two chi-squared numbers, each divided by its degrees of freedom `df1` and `df2`.

    The parameters broadcast to the batch's shape. ValueError where one lies outside of its
    set.

    Args:
        df1: the degrees of freedom of the numerator, above 0
        df2: the degrees of freedom of the denominator, above 0
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import FisherSnedecor
    >>> FisherSnedecor(2.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _dims = {"df1": 0, "df2": 0}

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1, validate_args=False)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2, validate_args=False)
        super().__init__(self.df1.size(), validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new._gamma1 = self._gamma1.expand(batch_shape)
        new._gamma2 = self._gamma2.expand(batch_shape)

    @property
    def mean(self) -> Tensor:
        """NaN up to df2 = 2."""
        return taeda.where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self) -> Tensor:
        """NaN up to df1 = 2."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return taeda.where(self.df1 > 2, mode, math.nan)

    @property
    def variance(self) -> Tensor:
        """NaN up to df2 = 4."""
        spread = 2 * self.df2.pow(2) * (self.df1 + self.df2 - 2)
        finite = spread / (self.df1 * (self.df2 - 2).pow(2) * (self.df2 - 4))
        return taeda.where(self.df2 > 4, finite, math.nan)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        tiny = taeda.finfo(self.df2.dtype).tiny
        below = self._gamma2.rsample(sample_shape).clamp(min=tiny)
        return (self._gamma1.rsample(sample_shape) / below).clamp(min=tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        known = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma() + half1 * ratio.log()
        return known + (half1 - 1) * value.log() - (half1 + half2) * taeda.log1p(ratio * value)
