"""The geometric distribution."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Size, Tensor
from taeda.nn.functional import binary_cross_entropy_with_logits

from . import constraints
from ._probabilities import Probabilities
from .utils import broadcast_all

__all__ = ["Geometric"]


class Geometric(Probabilities):
    """The number of failures before the first success of probability `probs`, or of log odds `logits`.

    The batch has the shape of the parameter. ValueError unless a probability lies in (0, 1].

    Args:
        probs: the probabilities, from 0 to 1, a number or a float tensor. Either these or
            logits (default: None)
        logits: the logarithms of the odds, any number or a float tensor. Either these or probs
            (default: None)
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Geometric
    >>> Geometric(0.25).mean
    tensor(3.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    _dims = {"probs": 0, "logits": 0}

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._take(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(
                f"Expected parameter probs of distribution {self!r} to be above 0, but found "
                f"invalid values:\n{self.probs}"
            )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return taeda.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with taeda.no_grad():
            u = self.probs.new_empty(shape).uniform_(taeda.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        failure = probs.clone(memory_format=taeda.contiguous_format)
        failure[(failure == 1) & (value == 0)] = 0  # 0 * log(0) is 0 here
        return value * (-failure).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        per_trial = binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return per_trial / self.probs
