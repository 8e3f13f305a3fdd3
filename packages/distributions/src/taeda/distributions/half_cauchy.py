"""The Cauchy distribution folded at 0."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor

from ._folded import Folded
from .cauchy import Cauchy

__all__ = ["HalfCauchy"]


class HalfCauchy(Folded):
    """Absolute values of Cauchy numbers around 0 of width `scale`.

    The batch has the shape of `scale`. ValueError unless that is positive.

    Args:
        scale: the spread, above 0; a number or a float tensor that broadcasts with the other
            parameters
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import HalfCauchy
    >>> HalfCauchy(1.0).cdf(taeda.tensor(1.0))
    tensor(0.5000)
    """

    base_dist: Cauchy

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(HalfCauchy, _instance))

    @property
    def mean(self) -> Tensor:
        """Infinite."""
        return taeda.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return self.base_dist.variance
