"""What is demanded of one size of one tensor, as objects: for programs that speak of demands by them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from taeda.fx.experimental._contexts import StrictMinMaxConstraint
from taeda.fx.experimental._ranges import ValueRanges

__all__ = ["Constraint"]


@dataclass(frozen=True)
class _Target:
    """Dimension `dim` of the tensor that has the id `t_id`."""

    t_id: int
    dim: int


@dataclass(frozen=True)
class _Constraint(_Target):
    """The size has the name `name` and is in a range. Comparisons with integers give the constraint
    with a smaller range; TypeError for its truth value.
    """

    name: str
    constraint_range: StrictMinMaxConstraint

    def _within(self, lower: float, upper: float) -> _Constraint:
        limits = self.constraint_range
        narrowed = replace(limits, vr=limits.vr & ValueRanges(lower, upper))
        return replace(self, constraint_range=narrowed)

    def __ge__(self, lower: int) -> _Constraint:
        return self._within(lower, math.inf)

    def __gt__(self, lower: int) -> _Constraint:
        return self._within(lower + 1, math.inf)

    def __le__(self, upper: int) -> _Constraint:
        return self._within(0, upper)

    def __lt__(self, upper: int) -> _Constraint:
        return self._within(0, upper - 1)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"the constraint {self.name} is neither true nor false: Python reads a <= x <= b as two "
            "comparisons joined by `and`, so write them one after the other"
        )

    @property
    def serializable_spec(self) -> dict[str, Any]:
        """The demand as a dict of numbers."""
        return _numbers(self, self.constraint_range)


@dataclass(frozen=True)
class _DerivedConstraint(_Target):
    """The size is `fn` of the size at `root`; its own name and range are `name`, `constraint_range`."""

    name: str
    constraint_range: StrictMinMaxConstraint
    root: _Target
    fn: Callable[[Any], Any]

    @property
    def serializable_spec(self) -> dict[str, Any]:
        """The demand as a dict of numbers."""
        return _numbers(self, self.constraint_range)


@dataclass(frozen=True)
class _RelaxedConstraint(_Target):
    """The size varies, and its range and relations are found."""

    @property
    def serializable_spec(self) -> dict[str, Any]:
        """The demand as a dict of numbers."""
        return {"t_id": self.t_id, "dim": self.dim}


def _numbers(target: _Target, limits: StrictMinMaxConstraint) -> dict[str, Any]:
    place = {"t_id": target.t_id, "dim": target.dim}
    return {**place, "min": limits.vr.lower, "max": limits.vr.upper}


Constraint = _Constraint | _DerivedConstraint | _RelaxedConstraint
