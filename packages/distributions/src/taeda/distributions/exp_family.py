"""Distributions of the exponential family: the entropy from the log normaliser."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Densities h(x) exp(<t(x), theta> - F(theta)), with natural parameters theta and log normaliser F.

    Args:
        batch_shape: the sizes of the parameters: of draws that do not depend on each other
        event_shape: the sizes of one draw
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> p = taeda.distributions.Bernoulli(taeda.tensor([0.5]))
    >>> isinstance(p, taeda.distributions.ExponentialFamily), p.entropy()
    (True, tensor([0.6931]))
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError(f"{type(self).__name__} does not say its natural parameters")

    def _log_normalizer(self, *natural_params: Tensor) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say its log normaliser")

    @property
    def _mean_carrier_measure(self) -> Any:
        """The mean of log h(x)."""
        raise NotImplementedError(f"{type(self).__name__} does not say its carrier measure")

    def entropy(self) -> Tensor:
        """F(theta) - <theta, grad F(theta)> - E[log h(x)] (Nielsen and Nock: Entropies and
        cross-entropies of exponential families, 2010).
        """
        with taeda.enable_grad():
            natural = [p.detach().requires_grad_() for p in self._natural_params]
            normaliser = self._log_normalizer(*natural)
            gradients = taeda.autograd.grad(normaliser.sum(), natural, create_graph=True)
        result = normaliser - self._mean_carrier_measure
        for theta, gradient in zip(natural, gradients, strict=True):
            product = theta * gradient
            result = result - product.reshape((*self._batch_shape, -1)).sum(-1)
        return result
