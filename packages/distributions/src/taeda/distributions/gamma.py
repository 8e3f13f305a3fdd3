"""The gamma distribution."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Gamma with shape `concentration` and `rate`.

    Samples are differentiable in the shape by implicit reparameterisation (Figurnov, Mohamed and Mnih, 2018).

    The parameters broadcast to the batch's shape. ValueError where one lies outside of its
    set.

    Args:
        concentration: the shape parameter, above 0; a number or a float tensor
        rate: the rate, above 0; a number or a float tensor
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Gamma
    >>> Gamma(4.0, 2.0).mean
    tensor(2.)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _dims = {"concentration": 0, "rate": 0}
    _mean_carrier_measure = 0

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = taeda._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=taeda.finfo(value.dtype).tiny)  # 0 has no logarithm
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        shape, rate = self.concentration, self.rate
        known = taeda.xlogy(shape, rate) - rate * value - shape.lgamma()
        return known + taeda.xlogy(shape - 1, value)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return taeda.igamma(self.concentration, self.rate * self._inside(value))

    def entropy(self) -> Tensor:
        shape = self.concentration
        return shape - self.rate.log() + shape.lgamma() + (1 - shape) * shape.digamma()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return (x + 1).lgamma() - (x + 1) * (-y).log()
