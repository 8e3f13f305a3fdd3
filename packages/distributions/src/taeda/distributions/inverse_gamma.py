"""The inverse gamma distribution."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from . import constraints
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """1 / X for X of the gamma distribution with shape `concentration` and `rate`.

    The parameters broadcast to the batch's shape. ValueError where one lies outside of its
    set.

    Args:
        concentration: the shape parameter, above 0; a number or a float tensor
        rate: the rate, above 0; a number or a float tensor
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import InverseGamma
    >>> InverseGamma(3.0, 2.0).mean
    tensor(1.)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Gamma

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        turn = PowerTransform(-base.rate.new_ones(()))
        super().__init__(base, turn, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(InverseGamma, _instance))

    @property
    def concentration(self) -> Tensor:
        """The shape of the gamma distribution."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The rate of the gamma distribution."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        """Infinite up to concentration = 1."""
        return taeda.where(self.concentration > 1, self.rate / (self.concentration - 1), taeda.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """Infinite up to concentration = 2."""
        a = self.concentration
        finite = self.rate.square() / ((a - 1).square() * (a - 2))
        return taeda.where(a > 2, finite, taeda.inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
