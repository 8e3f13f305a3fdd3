"""Distributions that are made of a categorical one and share its parameter."""

from __future__ import annotations

from typing import Any

from taeda import Size, Tensor

from .categorical import Categorical
from .distribution import Distribution

__all__ = ["OverCategories"]


class OverCategories(Distribution):
    """Keeps a Categorical, and shows its parameter."""

    _categorical: Categorical

    def _take(
        self, probs: Tensor | None, logits: Tensor | None, validate_args: bool | None
    ) -> None:
        self._categorical = Categorical(probs, logits, validate_args)
        batch, events = self._categorical.batch_shape, self._categorical.param_shape[-1:]
        Distribution.__init__(self, batch, events, validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new._categorical = self._categorical.expand(batch_shape)

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def probs(self) -> Tensor:
        """Probabilities along the last dimension."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Normalised logarithms of probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._categorical.param_shape
