"""The multinomial distribution."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from ._over_categories import OverCategories
from .binomial import Binomial
from .categorical import Categorical
from .utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(OverCategories):
    """How often each category comes up in `total_count` draws.

    All but the last dimension of the parameter are the batch. NotImplementedError unless
    `total_count` is one int.

    Args:
        total_count: the number of trials, at least 0 (default: 1)
        probs: the weights of the categories, at least 0, of shape (*, K). Either these or
            logits (default: None)
        logits: logarithms of the weights, not normalized, of shape (*, K). Either these or
            probs (default: None)
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Multinomial
    >>> Multinomial(4, taeda.tensor([1.0, 3.0])).mean
    tensor([1., 3.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("total_count is one int for the whole batch")
        self.total_count = total_count
        self._take(probs, logits, validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        super()._expand_rest(new, batch_shape)
        new.total_count = self.total_count

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = Size(sample_shape)
        draws = self._categorical.sample(Size((self.total_count,)) + shape)
        counts = self.probs.new_zeros(self._extended_shape(shape))
        draws = draws.permute(*range(1, draws.dim()), 0)
        return counts.scatter_add_(-1, draws, taeda.ones_like(draws, dtype=counts.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -taeda.inf), 0)
        ways = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        return ways + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        """Of the draws in their order, less what is lost by counting; each count is binomial."""
        # the terms grow as n log n and their sum as log n: float32 would leave nothing of it for large n
        n, probs = taeda.tensor(self.total_count), self.probs.double()
        counts = Binomial(self.total_count, probs=probs)
        support = counts.enumerate_support(expand=False)[1:]
        lost = (counts.log_prob(support).exp() * (support + 1).lgamma()).sum((0, -1))
        ordered = n * Categorical(probs=probs).entropy()
        return (ordered - (n + 1.0).double().lgamma() + lost).to(self.probs.dtype)
