"""The negative binomial distribution."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Size, Tensor
from taeda.nn.functional import logsigmoid

from . import constraints
from ._probabilities import Probabilities
from .gamma import Gamma
from .utils import lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(Probabilities):
    """The number of successes of probability `probs` before `total_count` failures.

    The parameters broadcast to the batch's shape. ValueError where one lies outside of its
    set.

    Args:
        total_count: the number of failures that end the trials, at least 0
        probs: the probabilities, from 0 to 1, a number or a float tensor. Either these or
            logits (default: None)
        logits: the logarithms of the odds, any number or a float tensor. Either these or probs
            (default: None)
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import NegativeBinomial
    >>> NegativeBinomial(4.0, 0.5).mean
    tensor(4.)
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _dims = {"total_count": 0, "probs": 0, "logits": 0}

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._take(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / taeda.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        """Counts are Poisson with rates of this distribution; it is not checked again."""
        return Gamma(self.total_count, (-self.logits).exp(), validate_args=False)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with taeda.no_grad():
            return taeda.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        known = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        ways = (n + value).lgamma() - (1.0 + value).lgamma() - n.lgamma()
        return known + ways.masked_fill(n + value == 0.0, 0.0)
