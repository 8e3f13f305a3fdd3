"""Continuous relaxations of the one-hot categorical distribution."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from ._over_categories import OverCategories
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(OverCategories):
    """Logarithms of relaxed one-hot vectors (Maddison, Mnih and Teh, 2017; Jang, Gu and Poole, 2017).

    Args:
        temperature: the temperature, above 0: the lower, the nearer to 0 and 1
        probs: the weights of the categories, at least 0, of shape (*, K). Either these or logits
        logits: logarithms of the weights, not normalized, of shape (*, K). Either these or probs
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._take(probs, logits, validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        super()._expand_rest(new, batch_shape)
        new.temperature = self.temperature

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(taeda.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(-1, True)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        k = self._event_shape[0]
        logits, value = broadcast_all(self.logits, value)
        temperature = taeda.as_tensor(self.temperature, dtype=logits.dtype)
        scale = taeda.tensor(float(k), dtype=logits.dtype).lgamma() + (k - 1) * temperature.log()
        score = logits - value * temperature
        return (score - score.logsumexp(-1, True)).sum(-1) + scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Vectors of probabilities that approach a one-hot sample as the temperature falls.

    All but the last dimension of the parameter are the batch. ValueError where that is no set
    of probabilities.

    Args:
        temperature: the temperature, above 0: the lower, the nearer to 0 and 1
        probs: the weights of the categories, at least 0, of shape (*, K). Either these or
            logits (default: None)
        logits: logarithms of the weights, not normalized, of shape (*, K). Either these or
            probs (default: None)
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import RelaxedOneHotCategorical
    >>> RelaxedOneHotCategorical(0.5, taeda.ones(3)).sample().shape
    taeda.Size([3])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    base_dist: ExpRelaxedCategorical

    def __init__(
        self,
        temperature: Any,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(
            batch_shape, self._get_checked_instance(RelaxedOneHotCategorical, _instance)
        )

    @property
    def temperature(self) -> Any:
        """The lower, the closer to one-hot."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """Normalised logarithms of probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """Probabilities."""
        return self.base_dist.probs
