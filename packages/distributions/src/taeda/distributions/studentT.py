"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t with `df` degrees of freedom, shifted by `loc` and stretched by `scale`.

    The parameters broadcast to the batch's shape. ValueError where one lies outside of its
    set.

    Args:
        df: the degrees of freedom, above 0; a number or a float tensor
        loc: the mean, or the place of the peak; a number or a float tensor (default: 0.0)
        scale: the spread, above 0; a number or a float tensor that broadcasts with the other
            parameters (default: 1.0)
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import StudentT
    >>> StudentT(4.0).variance
    tensor(2.)
    """

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    _dims = {"df": 0, "loc": 0, "scale": 0}

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df, validate_args=False)  # checked below, under its own name
        super().__init__(self.df.size(), validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new._chi2 = self._chi2.expand(batch_shape)

    @property
    def mean(self) -> Tensor:
        """NaN up to 1 degree of freedom."""
        return taeda.where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """Infinite up to 2 degrees of freedom, NaN up to 1."""
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        heavy = taeda.where(self.df > 1, math.inf, math.nan).to(finite.dtype)
        return taeda.where(self.df > 2, finite, heavy)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        normal = taeda.randn(shape, dtype=self.df.dtype, device=self.df.device)
        return self.loc + self.scale * normal * taeda.rsqrt(
            self._chi2.rsample(sample_shape) / self.df
        )

    def _log_normaliser(self) -> Tensor:
        half = 0.5 * self.df
        return 0.5 * (self.df.log() + math.log(math.pi)) + half.lgamma() - (half + 0.5).lgamma()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        known = -0.5 * (self.df + 1.0) * (z**2 / self.df).log1p()
        return known - self.scale.log() - self._log_normaliser()

    def entropy(self) -> Tensor:
        half = 0.5 * (self.df + 1)
        gap = half.digamma() - (0.5 * self.df).digamma()
        return self.scale.log() + half * gap + self._log_normaliser()
