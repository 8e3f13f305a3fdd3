"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Size, Tensor
from taeda.nn.functional import binary_cross_entropy_with_logits

from . import constraints
from ._probabilities import Probabilities
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, probs_to_logits

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(Probabilities, ExponentialFamily):
    """Densities on [0, 1] that go with p^x (1 - p)^(1 - x) (Loaiza-Ganem and Cunningham, 2019).

    Between the two `lims` around p = 1/2, where the formulas divide 0 by 0, series take their place.

    The batch has the shape of the parameter. ValueError for a probability outside of [0, 1].

    Args:
        probs: the probabilities, from 0 to 1, a number or a float tensor. Either these or
            logits (default: None)
        logits: the logarithms of the odds, any number or a float tensor. Either these or probs
            (default: None)
        lims: the range of probs around 1/2 where a series is used
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import ContinuousBernoulli
    >>> ContinuousBernoulli(0.5).mean
    tensor(0.5000)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _dims = {"probs": 0, "logits": 0}
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._lims = lims
        self._take(probs, logits)
        if "probs" in self.__dict__:
            if (
                validate_args is not False
                and not self.arg_constraints["probs"].check(self.probs).all()
            ):
                raise ValueError("The parameter probs has invalid values")
            self._keep(probs=clamp_probs(self.probs))
        super().__init__(self._param.size(), validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new._lims = self._lims

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities, moved from 0 and 1."""
        return clamp_probs(taeda.sigmoid(self.logits))

    def _outside(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        """The probabilities, with those near 1/2 replaced by one where the formulas hold."""
        return taeda.where(self._outside(), self.probs, self._lims[0])

    def _log_constant(self) -> Tensor:
        p = self._cut_probs()
        below = taeda.where(p <= 0.5, p, 0.0)
        above = taeda.where(p >= 0.5, p, 1.0)
        size = taeda.where(p <= 0.5, (-2 * below).log1p(), (2 * above - 1).log())
        exact = ((-p).log1p() - p.log()).abs().log() - size
        square = (self.probs - 0.5) ** 2
        series = math.log(2.0) + (4 / 3 + 104 / 45 * square) * square
        return taeda.where(self._outside(), exact, series)

    @property
    def mean(self) -> Tensor:
        p = self._cut_probs().double()  # near 1/2 the terms are large, and nearly cancel
        exact = (p / (2 * p - 1) + 1 / ((-p).log1p() - p.log())).to(self.probs.dtype)
        x = self.probs - 0.5
        return taeda.where(self._outside(), exact, 0.5 + (1 / 3 + 16 / 45 * x**2) * x)

    @property
    def variance(self) -> Tensor:
        p = self._cut_probs().double()  # as for the mean
        exact = p * (p - 1) / (1 - 2 * p) ** 2 + 1 / ((-p).log1p() - p.log()) ** 2
        exact = exact.to(self.probs.dtype)
        square = (self.probs - 0.5) ** 2
        return taeda.where(self._outside(), exact, 1 / 12 - (1 / 15 - 128 / 945 * square) * square)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(taeda.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return (
            -binary_cross_entropy_with_logits(logits, value, reduction="none")
            + self._log_constant()
        )

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        p = self._cut_probs()
        inside = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        inside = taeda.where(self._outside(), inside, value)
        return taeda.where(value <= 0, 0.0, taeda.where(value >= 1, 1.0, inside))

    def icdf(self, value: Tensor) -> Tensor:
        p = self._cut_probs()
        top = (-p + value * (2 * p - 1)).log1p() - (-p).log1p()
        return taeda.where(self._outside(), top / (p.log() - (-p).log1p()), value)

    def entropy(self) -> Tensor:
        failure, success = (-self.probs).log1p(), self.probs.log()
        return self.mean * (failure - success) - self._log_constant() - failure

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (probs_to_logits(self.probs, True),)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        far = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = taeda.where(far, x, self._lims[0] - 0.5)
        exact = (cut.exp() - 1).abs().log() - cut.abs().log()
        return taeda.where(far, exact, 0.5 * x + x**2 / 24.0 - x**4 / 2880.0)
