"""Maps of single numbers."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Size, Tensor
from taeda.nn.functional import softplus

from . import constraints
from ._transform import Transform
from .utils import broadcast_all

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftplusTransform",
    "TanhTransform",
]


class _Pointwise(Transform):
    """A map of single numbers that rises everywhere, without parameters."""

    domain = constraints.real
    bijective = True
    sign = 1

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    __hash__ = Transform.__hash__


class ExpTransform(_Pointwise):
    """y = exp(x).

    Args:
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither

    >>> from taeda.distributions import ExpTransform
    >>> ExpTransform()(taeda.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


def _clipped_sigmoid(x: Tensor) -> Tensor:
    """sigmoid(x), kept inside (0, 1)."""
    info = taeda.finfo(x.dtype)
    return taeda.sigmoid(x).clamp(min=info.tiny, max=1.0 - info.eps)


class SigmoidTransform(_Pointwise):
    """y = 1 / (1 + exp(-x)), kept inside (0, 1).

    Args:
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither

    >>> from taeda.distributions import SigmoidTransform
    >>> SigmoidTransform()(taeda.tensor([0.0, 1.0]))
    tensor([0.5000, 0.7311])
    """

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        info = taeda.finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1.0 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_Pointwise):
    """y = log(1 + exp(x)); the map is x itself above 20.

    Args:
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither

    >>> from taeda.distributions import SoftplusTransform
    >>> SoftplusTransform()(taeda.tensor([0.0, 30.0]))
    tensor([ 0.6931, 30.0000])
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_Pointwise):
    """y = tanh(x).

    Args:
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither

    >>> from taeda.distributions import TanhTransform
    >>> TanhTransform()(taeda.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return taeda.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Transform):
    """y = |x|; the inverse gives the positive one.

    Args:
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither

    >>> from taeda.distributions import AbsTransform
    >>> AbsTransform()(taeda.tensor([-1.0, 2.0]))
    tensor([1., 2.])
    """

    domain = constraints.real
    codomain = constraints.positive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class PowerTransform(Transform):
    """y = x ** exponent, of positive numbers.

    The exponent broadcasts with the argument.

    Args:
        exponent: the power, a number or a float tensor
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither (default: 0)

    >>> from taeda.distributions import PowerTransform
    >>> PowerTransform(2.0)(taeda.tensor([1.0, 3.0]))
    tensor([1., 9.])
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Size) -> Size:
        return taeda.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class AffineTransform(Transform):
    """y = loc + scale * x; the last `event_dim` dimensions belong together.

    `loc` and `scale` broadcast with the argument.

    Args:
        loc: what is added, a number or a tensor
        scale: the factor, a number or a tensor
        event_dim: how many of the last dimensions are one event (default: 0)
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither (default: 0)

    >>> from taeda.distributions import AffineTransform
    >>> AffineTransform(1.0, 2.0)(taeda.tensor([0.0, 1.0]))
    tensor([1., 3.])
    """

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    def _reals(self) -> constraints.Constraint:
        return (
            constraints.independent(constraints.real, self.event_dim)
            if self.event_dim
            else constraints.real
        )

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return self._reals()

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return self._reals()

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AffineTransform)
            and bool(taeda.as_tensor(self.loc == other.loc).all())
            and bool(taeda.as_tensor(self.scale == other.scale).all())
        )

    __hash__ = Transform.__hash__

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            log_scale = self.scale.abs().log()
        else:
            log_scale = taeda.full_like(x, math.log(abs(self.scale)))
        n = self.event_dim
        if n:
            log_scale = log_scale.expand(x.shape).reshape((*x.shape[:-n], -1)).sum(-1)
        return log_scale.expand(x.shape[: x.dim() - n])

    def forward_shape(self, shape: Size) -> Size:
        return taeda.broadcast_shapes(
            shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ())
        )

    inverse_shape = forward_shape


class CumulativeDistributionTransform(Transform):
    """y = the share of a distribution up to x.

    NotImplementedError for a distribution without cdf; its inverse needs icdf.

    Args:
        distribution: the distribution whose cumulative function maps values to [0, 1]
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither (default: 0)

    >>> from taeda.distributions import CumulativeDistributionTransform, Uniform
    >>> CumulativeDistributionTransform(Uniform(0.0, 2.0))(taeda.tensor([0.5, 1.0]))
    tensor([0.2500, 0.5000])
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
