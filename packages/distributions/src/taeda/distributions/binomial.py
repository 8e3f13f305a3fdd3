"""The binomial distribution."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Size, Tensor
from taeda.nn.functional import logsigmoid

from . import constraints
from ._probabilities import Probabilities

__all__ = ["Binomial"]


class Binomial(Probabilities):
    """The number of successes in `total_count` trials of probability `probs`, or of log odds `logits`.

    `total_count` and the other parameter broadcast to the batch's shape. ValueError where one
    lies outside of its set.

    Args:
        total_count: the number of trials, at least 0 (default: 1)
        probs: the probabilities, from 0 to 1, a number or a float tensor. Either these or
            logits (default: None)
        logits: the logarithms of the odds, any number or a float tensor. Either these or probs
            (default: None)
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Binomial
    >>> Binomial(4, 0.5).mean
    tensor(2.)
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _dims = {"total_count": 0, "probs": 0, "logits": 0}

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._take(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with taeda.no_grad():
            return taeda.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        normaliser = -n * logsigmoid(-self.logits)  # n log(1 + exp(logits)), smooth at 0 too
        return value * self.logits + ways - normaliser

    def entropy(self) -> Tensor:
        n = int(self.total_count.max())
        if self.total_count.min() != n:
            raise NotImplementedError(
                "the entropy of binomials with different total_count is not implemented"
            )
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = int(self.total_count.max())
        if self.total_count.min() != n:
            raise NotImplementedError("binomials with different total_count have no common support")
        values = taeda.arange(1 + n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
