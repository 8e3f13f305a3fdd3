"""The Gumbel distribution."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """Gumbel, the distribution of maxima: loc - scale log(-log(U)).

    The parameters broadcast to the batch's shape. ValueError where one lies outside of its
    set.

    Args:
        loc: the mean, or the place of the peak; a number or a float tensor
        scale: the spread, above 0; a number or a float tensor that broadcasts with the other
            parameters
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Gumbel
    >>> Gumbel(0.0, 1.0).mean
    tensor(0.5772)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    _dims = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = taeda.finfo(self.loc.dtype)
        shape = self.loc.shape
        low, high = self.loc.new_full(shape, info.tiny), self.loc.new_full(shape, 1 - info.eps)
        base = Uniform(low, high, validate_args=validate_args)
        steps = [ExpTransform().inv, AffineTransform(0, -taeda.ones_like(self.scale)), ExpTransform().inv,
                 AffineTransform(self.loc, -self.scale)]  # fmt: skip
        super().__init__(base, steps, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(Gumbel, _instance))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)
