"""The Laplace distribution."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Size, Tensor

from ._symmetric import Symmetric

__all__ = ["Laplace"]


class Laplace(Symmetric):
    """Two exponential distributions of mean `scale`, back to back at `loc`.

    The parameters broadcast to the batch's shape. ValueError where one lies outside of its
    set.

    Args:
        loc: the mean, or the place of the peak; a number or a float tensor
        scale: the spread, above 0; a number or a float tensor that broadcasts with the other
            parameters
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Laplace
    >>> Laplace(0.0, 1.0).variance
    tensor(2.)
    """

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale**2

    @property
    def stddev(self) -> Tensor:
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        eps = taeda.finfo(self.loc.dtype).eps
        u = taeda.empty(shape, dtype=self.loc.dtype, device=self.loc.device).uniform_(eps - 1, 1)
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = value - self.loc
        return 0.5 - 0.5 * z.sign() * (-z.abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        centred = value - 0.5
        return self.loc - self.scale * centred.sign() * (-2 * centred.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()
