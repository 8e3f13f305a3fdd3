"""Distributions whose parameter is given as probabilities or as logits."""

from __future__ import annotations

from typing import Any, ClassVar

from taeda import Size, Tensor

from .distribution import Distribution
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Probabilities"]


class Probabilities(Distribution):
    """Keeps the one that was given, and computes the other when it is asked for."""

    _is_binary: ClassVar[bool] = True

    @lazy_property
    def logits(self) -> Tensor:
        """Log odds, or unnormalised logarithms of probabilities."""
        return probs_to_logits(self.probs, self._is_binary)

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities."""
        return logits_to_probs(self.logits, self._is_binary)

    @property
    def _param(self) -> Tensor:
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._param.size()

    def _keep(self, **parameter: Tensor) -> None:
        """Set what is otherwise computed."""
        self.__dict__.update(parameter)

    def _take(self, probs: Any, logits: Any, *others: Any) -> tuple[Tensor, ...]:
        """Keep the one of both that is given, broadcast with `others`; return those."""
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = logits if probs is None else probs
        kept, *rest = broadcast_all(given, *others)
        if probs is None:
            self._keep(logits=kept)
        else:
            self._keep(probs=kept)
        return tuple(rest)
