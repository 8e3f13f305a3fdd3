"""Categories as one-hot vectors."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from ._over_categories import OverCategories

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(OverCategories):
    """`Categorical` with one-hot vectors for indices.

    All but the last dimension of the parameter are the batch. ValueError where that is no set
    of probabilities.

    Args:
        probs: the weights of the categories, at least 0, of shape (*, K). Either these or
            logits (default: None)
        logits: logarithms of the weights, not normalized, of shape (*, K). Either these or
            probs (default: None)
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import OneHotCategorical
    >>> OneHotCategorical(taeda.tensor([1.0, 3.0])).mode
    tensor([0., 1.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._take(probs, logits, validate_args)

    @property
    def mean(self) -> Tensor:
        return self._categorical.probs

    @property
    def mode(self) -> Tensor:
        return self._one_hot(self._categorical.mode)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def _one_hot(self, indices: Tensor) -> Tensor:
        return taeda.nn.functional.one_hot(indices, self._event_shape[0]).to(self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        return self._one_hot(self._categorical.sample(sample_shape)).detach()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._event_shape[0]
        values = taeda.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(self._batch_shape) + (n,))
        return values.expand((n, *self._batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot samples whose gradient is that of the probabilities (Bengio, Léonard and Courville, 2013).

    Args:
        probs: the weights of the categories, at least 0, of shape (*, K). Either these or
            logits (default: None)
        logits: logarithms of the weights, not normalized, of shape (*, K). Either these or
            probs (default: None)
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> p = taeda.tensor([0.2, 0.8], requires_grad=True)
    >>> sample = taeda.distributions.OneHotCategoricalStraightThrough(probs=p).rsample()
    >>> sample.sum(), sample.requires_grad
    (tensor(1., grad_fn=<SumBackward0>), True)
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        sample = self.sample(sample_shape)
        return sample + (self.probs - self.probs.detach())
