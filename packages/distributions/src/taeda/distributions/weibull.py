"""The Weibull distribution."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Lifetimes of scale `scale` whose hazard goes with time ** (concentration - 1).

    The parameters broadcast to the batch's shape. ValueError where one lies outside of its
    set.

    Args:
        scale: the spread, above 0; a number or a float tensor that broadcasts with the other
            parameters
        concentration: the shape parameter, above 0; a number or a float tensor
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Weibull
    >>> Weibull(2.0, 1.0).mean
    tensor(2.)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _dims = {"scale": 0, "concentration": 0, "concentration_reciprocal": 0}

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(taeda.ones_like(self.scale), validate_args=validate_args)
        super().__init__(base, self._steps(self), validate_args=validate_args)

    @staticmethod
    def _steps(of: Any) -> list[Any]:
        return [PowerTransform(of.concentration_reciprocal), AffineTransform(0, of.scale)]

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, self._get_checked_instance(Weibull, _instance))
        new.transforms = self._steps(new)
        return new

    @property
    def mean(self) -> Tensor:
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Tensor:
        """0 up to concentration = 1, where the density falls from the start."""
        rest = ((self.concentration - 1) / self.concentration).clamp(min=0)
        return self.scale * rest**self.concentration_reciprocal

    @property
    def variance(self) -> Tensor:
        second = (1 + 2 * self.concentration_reciprocal).lgamma().exp()
        first = (2 * (1 + self.concentration_reciprocal).lgamma()).exp()
        return self.scale.pow(2) * (second - first)

    def entropy(self) -> Tensor:
        known = euler_constant * (1 - self.concentration_reciprocal)
        return known + (self.scale * self.concentration_reciprocal).log() + 1
