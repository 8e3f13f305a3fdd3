"""The categorical distribution."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from ._probabilities import Probabilities

__all__ = ["Categorical"]


class Categorical(Probabilities):
    """Indices whose probabilities go with `probs` along the last dimension, or with exp(`logits`).

    Args:
        probs: the weights of the categories, at least 0, of shape (*, K). Either these or
            logits (default: None)
        logits: logarithms of the weights, not normalized, of shape (*, K). Either these or
            probs (default: None)
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Categorical
    >>> Categorical(taeda.tensor([1.0, 3.0])).probs
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _is_binary = False
    _dims = {"probs": 1, "logits": 1}

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._take(probs, logits)
        if self._param.dim() < 1:
            raise ValueError(
                f"`{'logits' if probs is None else 'probs'}` parameter must be at least one-dimensional."
            )
        if probs is None:
            self._keep(logits=self.logits - self.logits.logsumexp(-1, True))
        else:
            self._keep(probs=self.probs / self.probs.sum(-1, True))
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    @property
    def _num_events(self) -> int:
        return self._param.size(-1)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    def _nan(self) -> Tensor:
        shape = self._extended_shape()
        return taeda.full(shape, taeda.nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mean(self) -> Tensor:
        """NaN: categories have no order."""
        return self._nan()

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        """NaN: categories have no order."""
        return self._nan()

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        shape = Size(sample_shape)
        flat = self.probs.reshape(-1, self._num_events)
        with taeda.no_grad():
            drawn = taeda.multinomial(flat, shape.numel(), True).T
        return drawn.reshape(self._extended_shape(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        places, logits = taeda.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, places[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        lowest = taeda.finfo(self.logits.dtype).min  # 0 times -infinity is 0 here
        return -(self.logits.clamp(min=lowest) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = taeda.arange(self._num_events, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
