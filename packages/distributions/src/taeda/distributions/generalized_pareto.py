"""The generalised Pareto distribution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["GeneralizedPareto"]

#: below this a quotient by the concentration is summed as a series, whose gradient keeps its digits
_NEAR = 0.01
_LOG1P = [(-1) ** k / (k + 1) for k in range(8)]
_EXPM1 = [1 / math.factorial(k + 1) for k in range(8)]


def _quotient(
    function: Callable[[Tensor], Tensor], series: list[float], x: Tensor, rate: Tensor
) -> Tensor:
    """function(rate * x) / rate, and its limit `x` where the rate is 0."""
    product = rate * x
    near = product.abs() < _NEAR
    small = taeda.where(near, product, 0.0)
    total = taeda.full_like(small, series[-1])
    for term in reversed(series[:-1]):
        total = total * small + term
    none = rate == 0
    far = function(taeda.where(near, 0.0, product)) / taeda.where(none, 1.0, rate)
    return taeda.where(near | none, x * total, far)


class GeneralizedPareto(Distribution):
    """What exceeds a high threshold `loc`: numbers whose tail falls as a power, as an exponential,
    or ends, where `concentration` is above, at or below 0.

    The parameters broadcast to the batch's shape. ValueError where `scale` is not positive.

    Args:
        loc: the mean, or the place of the peak; a number or a float tensor
        scale: the spread, above 0; a number or a float tensor that broadcasts with the other
            parameters
        concentration: the shape parameter, above 0; a number or a float tensor
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import GeneralizedPareto
    >>> GeneralizedPareto(0.0, 1.0, 0.5).mean
    tensor(2.)
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    _dims = {"loc": 0, "scale": 0, "concentration": 0}

    def __init__(
        self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From `loc` to the end of the tail, which is infinite unless the concentration is below 0."""
        return constraints.interval(self.loc, self._end())

    def _end(self) -> Tensor:
        ends = self.concentration < 0
        rate = taeda.where(ends, self.concentration, -1.0)
        return taeda.where(ends, self.loc - self.scale / rate, taeda.inf)

    @property
    def mean(self) -> Tensor:
        """Infinite from concentration 1 on."""
        c = self.concentration.clamp(max=1)
        return self.loc + self.scale / (1 - c)

    @property
    def mode(self) -> Tensor:
        """`loc`; below concentration -1 the end of the tail, towards which the density rises."""
        return taeda.where(self.concentration < -1, self._end(), self.loc)

    @property
    def variance(self) -> Tensor:
        """Infinite from concentration 1/2 on."""
        c = self.concentration.clamp(max=0.5)
        return self.scale.square() / ((1 - c).square() * (1 - 2 * c))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self._quantile(taeda.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def _quantile(self, share: Tensor) -> Tensor:
        depth = -(-share).log1p()
        return self.loc + self.scale * _quotient(taeda.expm1, _EXPM1, depth, self.concentration)

    def _depth(self, value: Tensor) -> Tensor:
        """-log of the share above each value."""
        if self._validate_args:
            self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return _quotient(taeda.log1p, _LOG1P, z, self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        depth = self._depth(value)
        uniform = depth.isinf() & (self.concentration == -1)  # at its end 0 * inf is meant as 0
        slope = taeda.where(uniform, 0.0, (1 + self.concentration) * depth)
        return -self.scale.log() - slope

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the share above each value."""
        return -self._depth(value)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of the share up to each value."""
        return self.cdf(value).log()

    def cdf(self, value: Tensor) -> Tensor:
        return -(-self._depth(self._inside(value))).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        return self._quantile(value)

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1
