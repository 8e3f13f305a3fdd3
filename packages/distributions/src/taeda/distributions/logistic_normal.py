"""The logistic-normal distribution."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from . import constraints
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Vectors of probabilities of one part more than `loc` has: independent normals with mean `loc`
    and standard deviation `scale`, sent through `StickBreakingTransform`.

    The last dimension of the parameters is the event, any others are the batch; numbers stand for
    one part. ValueError where one lies outside of its set.

    Args:
        loc: the mean, or the place of the peak; a number or a float tensor
        scale: the spread, above 0; a number or a float tensor that broadcasts with the other
            parameters
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import LogisticNormal
    >>> LogisticNormal(taeda.zeros(3), taeda.ones(3)).sample().shape
    taeda.Size([4])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(LogisticNormal, _instance))

    @property
    def loc(self) -> Tensor:
        """The means of the normals."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the normals."""
        return self.base_dist.base_dist.scale
