"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from ._shapes import need_tensors
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Dirichlet over probabilities, with a `concentration` for each of them along the last dimension.

    Samples are gamma samples divided by their sum. That is done with their logarithms, because
    samples of small shapes are smaller than any number: log G(a) = log G(a + 1) + log(U) / a.

    All but the last dimension are the batch. ValueError for a number, or where a concentration
    is not positive.

    Args:
        concentration: the weights of the categories, above 0, of shape (*, K)
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Dirichlet
    >>> Dirichlet(taeda.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _dims = {"concentration": 1}

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        need_tensors(concentration=concentration)
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        """Where all concentrations are below 1, all of the mass is at the largest one."""
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        no_peak = (self.concentration < 1).all(-1)
        largest = taeda.nn.functional.one_hot(mode[no_peak].argmax(-1), above.shape[-1])
        mode[no_peak] = largest.to(mode.dtype)
        return mode

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        rest = total - self.concentration
        return self.concentration * rest / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        concentration = self.concentration.expand(self._extended_shape(sample_shape))
        u = taeda.empty_like(concentration).uniform_(taeda.finfo(concentration.dtype).tiny, 1)
        log_gamma = taeda._standard_gamma(concentration + 1).log() + u.log() / concentration
        return taeda.softmax(log_gamma, -1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        density = taeda.xlogy(self.concentration - 1.0, value).sum(-1)
        return density + self.concentration.sum(-1).lgamma() - self.concentration.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        k, total = self.concentration.size(-1), self.concentration.sum(-1)
        known = self.concentration.lgamma().sum(-1) - total.lgamma() - (k - total) * total.digamma()
        return known - ((self.concentration - 1.0) * self.concentration.digamma()).sum(-1)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()
