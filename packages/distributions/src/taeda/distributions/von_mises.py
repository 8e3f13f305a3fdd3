"""The von Mises distribution."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Angles around `loc`, whose density goes with exp(concentration cos(x - loc)).

    Samples by rejection from a wrapped Cauchy envelope (Best and Fisher, 1979), in float64.

    The parameters broadcast to the batch's shape. ValueError where one lies outside of its
    set.

    Args:
        loc: the mean, or the place of the peak; a number or a float tensor
        concentration: the shape parameter, above 0; a number or a float tensor
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import VonMises
    >>> VonMises(0.0, 1.0).variance
    tensor(0.5536)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _dims = {"loc": 0, "concentration": 0}

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean direction."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The circular variance: 1 - I1(k) / I0(k)."""
        k = self.concentration
        return 1 - taeda.special.i1e(k) / taeda.special.i0e(k)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        # log I0(k) = log(i0e(k)) + k: together with k cos(...) it does not overflow
        return (
            k * ((value - self.loc).cos() - 1) - math.log(2 * math.pi) - taeda.special.i0e(k).log()
        )

    @lazy_property
    def _envelope(self) -> Tensor:
        """r of the wrapped Cauchy distribution; a series where its formula loses all digits."""
        k = self.concentration.double()
        tau = 1 + (1 + 4 * k**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        return taeda.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with taeda.no_grad():
            return self._sample(self._extended_shape(sample_shape))

    def _sample(self, shape: Size) -> Tensor:
        k, r = self.concentration.double().expand(shape), self._envelope.expand(shape)
        angles = taeda.zeros(shape, dtype=taeda.float64, device=k.device)
        missing = taeda.ones(shape, dtype=taeda.bool, device=k.device)
        while missing.any():
            u = taeda.rand((3, *shape), dtype=taeda.float64, device=k.device)
            z = (math.pi * u[0]).cos()
            f = (1 + r * z) / (r + z)
            c = k * (r - f)
            taken = missing & ((c * (2 - c) > u[1]) | ((c / u[1]).log() + 1 - c >= 0))
            angles = taeda.where(taken, (u[2] - 0.5).sign() * f.clamp(-1, 1).acos(), angles)
            missing = missing & ~taken
        around = (angles + math.pi + self.loc.double()) % (2 * math.pi) - math.pi
        return around.to(self.loc.dtype)
