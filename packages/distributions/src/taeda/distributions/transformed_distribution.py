"""A distribution seen through transforms."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from ._shapes import sum_rightmost
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of f(X), where X is `base_distribution` and f a transform or a list of them,
    applied in order.

    Args:
        base_distribution: the distribution whose draws are taken
        transforms: a transform, or a list of them from the first that is applied to the last
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Normal, TransformedDistribution, ExpTransform
    >>> TransformedDistribution(Normal(0.0, 1.0), ExpTransform()).log_prob(taeda.tensor(1.0))
    tensor(-0.9189)

    ValueError for what is no transform, or if the base's samples have fewer dimensions than the
    transforms need.
    """

    arg_constraints: Any = {}

    def __init__(
        self, base_distribution: Any, transforms: Any, validate_args: bool | None = None
    ) -> None:
        self.transforms = [transforms] if isinstance(transforms, Transform) else transforms
        if not isinstance(self.transforms, list) or not all(
            isinstance(t, Transform) for t in self.transforms
        ):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        shape = base_distribution.batch_shape + base_distribution.event_shape
        whole = ComposeTransform(self.transforms)
        if len(shape) < whole.domain.event_dim:
            raise ValueError(
                "base_distribution needs to have shape with size at least "
                f"{whole.domain.event_dim}, but got {tuple(shape)}."
            )
        result, event_dim = self._adopt(base_distribution, whole, shape)
        cut = len(result) - event_dim
        super().__init__(result[:cut], result[cut:], validate_args=validate_args)

    def _adopt(self, base: Any, whole: ComposeTransform, shape: Size) -> tuple[Size, int]:
        """Make the base as large, and as much of it an event, as the transforms do; the resulting
        shape and event_dim.
        """
        result = whole.forward_shape(shape)
        grown = whole.inverse_shape(result)
        if shape != grown:
            base = base.expand(grown[: len(grown) - len(base.event_shape)])
        extra = whole.domain.event_dim - len(base.event_shape)
        self.base_dist = Independent(base, extra) if extra > 0 else base
        rest = max(len(self.base_dist.event_shape) - whole.domain.event_dim, 0)
        return result, whole.codomain.event_dim + rest

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(TransformedDistribution, _instance)
        batch = Size(batch_shape)
        for name in self._dims:
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name].expand(batch))
        whole = ComposeTransform(self.transforms)
        shape = whole.inverse_shape(batch + self.event_shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms
        Distribution.__init__(new, batch, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """As the base distribution."""
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        extra = len(self.event_shape) - support.event_dim
        return constraints.independent(support, extra) if extra > 0 else support

    def _forward(self, value: Tensor) -> Tensor:
        for transform in self.transforms:
            value = transform(value)
        return value

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with taeda.no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """The base's density where the value came from, less the logarithms of the transforms'
        Jacobian determinants.
        """
        if self._validate_args:
            self._validate_sample(value)
        event_dim = len(self.event_shape)
        total: Any = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            jacobian = transform.log_abs_det_jacobian(x, y)
            total = total - sum_rightmost(jacobian, event_dim - transform.domain.event_dim)
            y = x
        base = self.base_dist.log_prob(y)
        return total + sum_rightmost(base, event_dim - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value: Tensor) -> Any:
        """A falling transform turns shares around."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        if not self._validate_args:
            value = self._inside(value)
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._forward(self.base_dist.icdf(self._monotonize_cdf(value)))
