"""Batch dimensions that are taken for dimensions of an event."""

from __future__ import annotations

from typing import Any

from taeda import Size, Tensor

from . import constraints
from .distribution import Distribution

__all__ = ["Independent"]


class Independent(Distribution):
    """The last `reinterpreted_batch_ndims` dimensions of a batch as one event; `log_prob` sums over them.

    Args:
        base_distribution: the distribution whose draws are taken
        reinterpreted_batch_ndims: how many of the last batch dimensions become part of the event,
            at least 0
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Independent, Normal
    >>> Independent(Normal(taeda.zeros(3), 1.0), 1).log_prob(taeda.zeros(3)).shape
    taeda.Size([])

    ValueError if the batch has fewer dimensions.
    """

    arg_constraints: Any = {}
    _passes_on = True

    def __init__(
        self,
        base_distribution: Any,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        have = len(base_distribution.batch_shape)
        if reinterpreted_batch_ndims > have:
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {have}"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        cut = have - reinterpreted_batch_ndims
        shape = base_distribution.batch_shape + base_distribution.event_shape
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Independent, _instance)
        n = self.reinterpreted_batch_ndims
        new.base_dist = self.base_dist.expand(Size(batch_shape) + self.event_shape[:n])
        new.reinterpreted_batch_ndims = n
        Distribution.__init__(new, Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """As the base distribution."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """As the base distribution, unless its batch has become an event."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        n, base = self.reinterpreted_batch_ndims, self.base_dist.support
        return constraints.independent(base, n) if n else base

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def _summed(self, value: Tensor) -> Tensor:
        n = self.reinterpreted_batch_ndims
        return value.sum(tuple(range(-n, 0))) if n else value

    def log_prob(self, value: Tensor) -> Tensor:
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        return self._summed(self.base_dist.entropy())

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("the values of a product of distributions are not enumerated")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
