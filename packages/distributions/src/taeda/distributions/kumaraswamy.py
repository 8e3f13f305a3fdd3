"""The Kumaraswamy distribution."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


def _moment(a: Tensor, b: Tensor, n: int) -> Tensor:
    """The mean of X ** n."""
    first = 1 + n / a
    return (first.lgamma() + b.lgamma() - (first + b).lgamma()).exp() * b


class Kumaraswamy(TransformedDistribution):
    """Much like Beta, with a cdf in closed form: 1 - (1 - x ** concentration1) ** concentration0.

    The parameters broadcast to the batch's shape. ValueError where one lies outside of its
    set.

    Args:
        concentration1: the first shape parameter, above 0; a number or a float tensor
        concentration0: the second shape parameter, above 0; a number or a float tensor
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Kumaraswamy
    >>> Kumaraswamy(1.0, 1.0).mean
    tensor(0.5000)
    """

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True
    _dims = {"concentration1": 0, "concentration0": 0}

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        zeros, ones = taeda.zeros_like(self.concentration0), taeda.ones_like(self.concentration0)
        base = Uniform(zeros, ones, validate_args=validate_args)
        super().__init__(base, self._steps(self), validate_args=validate_args)

    @staticmethod
    def _steps(of: Any) -> list[Any]:
        inner, outer = of.concentration0.reciprocal(), of.concentration1.reciprocal()
        return [PowerTransform(inner), AffineTransform(1.0, -1.0), PowerTransform(outer)]

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, self._get_checked_instance(Kumaraswamy, _instance))
        new.transforms = self._steps(new)
        return new

    @property
    def mean(self) -> Tensor:
        return _moment(self.concentration1, self.concentration0, 1)

    @property
    def mode(self) -> Tensor:
        """((a - 1) / (a b - 1)) ** (1 / a); NaN where the density has no peak inside."""
        a, b = self.concentration1, self.concentration0
        peak = (a >= 1) & (b >= 1) & (a * b > 1)
        return taeda.where(peak, ((a - 1) / (a * b - 1)).pow(a.reciprocal()), taeda.nan)

    @property
    def variance(self) -> Tensor:
        return _moment(self.concentration1, self.concentration0, 2) - self.mean.pow(2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1.reciprocal(), self.concentration0.reciprocal()
        harmonic = (self.concentration0 + 1).digamma() + euler_constant
        return (1 - b) + (1 - a) * harmonic + a.log() + b.log()
