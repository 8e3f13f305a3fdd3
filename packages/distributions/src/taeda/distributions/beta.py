"""The beta distribution."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """Beta: the density goes with x^(concentration1 - 1) (1 - x)^(concentration0 - 1).

    The parameters broadcast to the batch's shape. ValueError where one lies outside of its
    set.

    Args:
        concentration1: the first shape parameter, above 0; a number or a float tensor
        concentration0: the second shape parameter, above 0; a number or a float tensor
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Beta
    >>> Beta(2.0, 2.0).mean
    tensor(0.5000)
    """

    arg_constraints = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        both = taeda.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new._dirichlet = self._dirichlet.expand(batch_shape)

    @property
    def concentration1(self) -> Tensor:
        """The exponent of x, plus 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Tensor:
        """The exponent of 1 - x, plus 1."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(taeda.stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return x.lgamma() + y.lgamma() - (x + y).lgamma()
