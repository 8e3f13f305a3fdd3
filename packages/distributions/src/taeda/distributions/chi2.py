"""The chi-squared distribution."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of `df` squared standard normal numbers.

    The batch has the shape of `df`. ValueError unless that is positive.

    Args:
        df: the degrees of freedom, above 0; a number or a float tensor
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Chi2
    >>> Chi2(3.0).variance
    tensor(6.)
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(Chi2, _instance))

    @property
    def df(self) -> Tensor:
        """Degrees of freedom."""
        return self.concentration * 2
