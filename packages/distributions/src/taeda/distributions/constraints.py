"""Sets that parameters and samples lie in: `constraints.positive.check(x)` says of each element
whether it is in there.

A constraint over vectors or matrices has `event_dim` 1 or 2, and answers for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.operators import widened

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent",
    "dependent_property", "greater_than",
    "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval",
    "is_dependent", "less_than",
    "lower_cholesky", "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer",
    "one_hot", "positive",
    "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector",
    "simplex", "square", "stack", "symmetric",
    "unit_interval",
]  # fmt: skip


class Constraint:
    """A set of numbers, vectors or matrices.

    >>> from taeda.distributions import constraints
    >>> constraints.positive.check(taeda.tensor([-1.0, 2.0]))
    tensor([False,  True])
    >>> constraints.simplex.event_dim
    1
    """

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Tensor:
        """A bool for each element of the batch: is it in the set?"""
        raise NotImplementedError(f"{type(self).__name__} has no check")

    def __repr__(self) -> str:
        return type(self).__name__.removeprefix("_") + "()"


# ---- sets that depend on other parameters ----


class _Dependent(Constraint):
    """A set that is known when the distribution's parameters are.

    Args:
        is_discrete: whether its values are separate, as integers are: False; None in a call keeps it.
        event_dim: how many of the last dimensions are one event: 0; None in a call keeps it.

    >>> taeda.distributions.constraints.dependent(is_discrete=True).is_discrete
    True
    """

    def __init__(self, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(
        self, *, is_discrete: bool | None = None, event_dim: int | None = None
    ) -> _Dependent:
        """The same with facts that hold whatever the parameters are."""
        return _Dependent(
            is_discrete=self.is_discrete if is_discrete is None else is_discrete,
            event_dim=self.event_dim if event_dim is None else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("a dependent constraint is checked through its distribution's instance")


def is_dependent(constraint: Any) -> bool:
    """Does the set depend on parameters?

    Args:
        constraint: a constraint.

    >>> from taeda.distributions import constraints
    >>> [constraints.is_dependent(one) for one in (constraints.dependent, constraints.real)]
    [True, False]
    """
    return isinstance(constraint, _Dependent)


class dependent_property(property, _Dependent):
    """A property whose value is a constraint; read from the class it stands for a dependent one.

    Args:
        fn: the function of the property (default: None)
        is_discrete: whether the values are separate (default: False)
        event_dim: how many of the last dimensions are one event (default: 0)

    >>> from taeda.distributions import constraints
    >>> class Below:
    ...     most = 3.0
    ...     @constraints.dependent_property
    ...     def support(self):
    ...         return constraints.less_than(self.most)
    >>> constraints.is_dependent(Below.support), Below().support
    (True, LessThan(upper_bound=3.0))
    """

    def __init__(
        self,
        fn: Callable[[Any], Any] | None = None,
        *,
        is_discrete: bool = False,
        event_dim: int = 0,
    ) -> None:
        super().__init__(fn)
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable[[Any], Any]) -> dependent_property:  # type: ignore[override]
        return dependent_property(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)


class _Independent(Constraint):
    """The product of a set with itself over the last dimensions.

    Args:
        base_constraint: the constraint of one part.
        reinterpreted_batch_ndims: over how many of the last dimensions of its answers all must hold.
    """

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        found = self.base_constraint.check(value)
        if found.dim() < self.reinterpreted_batch_ndims:
            wanted = self.event_dim
            raise ValueError(f"Expected value.dim() >= {wanted} but got {value.dim()}")
        kept = found.dim() - self.reinterpreted_batch_ndims
        return found.reshape((*found.shape[:kept], -1)).all(-1)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The set of a mixture's components: a value belongs to it if it belongs to every component's.

    Args:
        base_constraint: the constraint of one component
    """

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        found = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        kept = value.dim() - self.event_dim
        return found.reshape((*found.shape[:kept], -1)).all(-1)


# ---- numbers ----


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _IntegerInterval(Constraint):
    """Integers between two bounds, both included.

    Args:
        lower_bound: the least integer; a number, or a tensor that expands to the values'.
        upper_bound: the largest integer, likewise.

    >>> taeda.distributions.constraints.integer_interval(0, 3).check(taeda.tensor([1.0, 1.5]))
    tensor([ True, False])
    """

    is_discrete = True

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)

    def __repr__(self) -> str:
        return f"IntegerInterval(lower_bound={self.lower_bound}, upper_bound={self.upper_bound})"


class _IntegerGreaterThan(Constraint):
    is_discrete = True

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)

    def __repr__(self) -> str:
        return f"IntegerGreaterThan(lower_bound={self.lower_bound})"


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value == value  # all but NaN


class _GreaterThan(Constraint):
    """Numbers above a bound.

    Args:
        lower_bound: a number, or a tensor that expands to the values'; it is outside.

    >>> taeda.distributions.constraints.greater_than(1).check(taeda.tensor([1.0, 2.0]))
    tensor([False,  True])
    """

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound < value

    def __repr__(self) -> str:
        return f"{type(self).__name__.removeprefix('_')}(lower_bound={self.lower_bound})"


class _GreaterThanEq(_GreaterThan):
    """Numbers from a bound on.

    Args:
        lower_bound: a number, or a tensor that expands to the values'; it is inside.

    >>> taeda.distributions.constraints.greater_than_eq(1).check(taeda.tensor([1.0, 2.0]))
    tensor([True, True])
    """

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound <= value


class _LessThan(Constraint):
    """Numbers below a bound.

    Args:
        upper_bound: a number, or a tensor that expands to the values'; it is outside.

    >>> taeda.distributions.constraints.less_than(2).check(taeda.tensor([1.0, 2.0]))
    tensor([ True, False])
    """

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound

    def __repr__(self) -> str:
        return f"LessThan(upper_bound={self.upper_bound})"


class _Interval(Constraint):
    """Numbers between two bounds, both included.

    Args:
        lower_bound: a number, or a tensor that expands to the values'.
        upper_bound: the other bound, likewise.

    >>> taeda.distributions.constraints.interval(0, 1).check(taeda.tensor([1.0, 2.0]))
    tensor([ True, False])
    """

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)

    def __repr__(self) -> str:
        bounds = f"lower_bound={self.lower_bound}, upper_bound={self.upper_bound}"
        return f"{type(self).__name__.removeprefix('_')}({bounds})"


class _HalfOpenInterval(_Interval):
    """Numbers between two bounds, of which the upper one is outside.

    Args:
        lower_bound: a number, or a tensor that expands to the values'.
        upper_bound: the other bound, likewise.

    >>> taeda.distributions.constraints.half_open_interval(0, 1).check(taeda.tensor([0.0, 1.0]))
    tensor([ True, False])
    """

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


# ---- vectors ----


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        binary = ((value == 0) | (value == 1)).all(-1)
        return binary & (value.sum(-1) == 1)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        wide = widened(value)  # shares that are divided by a rounded sum are off by their own eps
        off = 1e-6 if wide is value else taeda.finfo(value.dtype).eps
        return (value >= 0).all(-1) & ((wide.sum(-1) - 1).abs() < off)


class _Multinomial(Constraint):
    """Vectors of counts whose sum is bounded.

    Args:
        upper_bound: the largest sum, a number or a tensor of the batch's shape.

    >>> counts = taeda.tensor([[1.0, 2.0], [1.0, 1.0]])
    >>> taeda.distributions.constraints.multinomial(3).check(counts)
    tensor([True, True])
    """

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


# ---- matrices ----


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        square = value.shape[-2] == value.shape[-1]
        return taeda.full(value.shape[:-2], square, dtype=taeda.bool, device=value.device)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    def check(self, value: Tensor) -> Tensor:
        rows = taeda.linalg.norm(value.detach(), dim=-1)
        tolerance = taeda.finfo(value.dtype).eps * value.shape[-1] * 10
        return super().check(value) & ((rows - 1).abs() <= tolerance).all(-1)


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        if not square.all():
            return square
        return taeda.isclose(value, value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return taeda.linalg.eigvalsh(value).ge(0).all(-1) if symmetric.all() else symmetric


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return taeda.linalg.cholesky_ex(value).info.eq(0) if symmetric.all() else symmetric


# ---- several sets side by side ----


class _Cat(Constraint):
    """Sets along one dimension, each over so many of its places.

    Args:
        cseq: the constraints, in their order.
        dim: the dimension (default: 0).
        lengths: how many places each has; None (the default) for one each. ValueError for
            another number of them.

    >>> from taeda.distributions import constraints
    >>> both = constraints.cat([constraints.positive, constraints.real], 0, [1, 2])
    >>> both.check(taeda.tensor([1.0, -1.0, -2.0]))
    tensor([True, True, True])
    """

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        self.cseq = list(cseq)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise ValueError(
                f"{len(self.cseq)} constraints need as many lengths, got {len(self.lengths)}"
            )
        self.dim = dim
        self.is_discrete = any(c.is_discrete for c in self.cseq)
        self.event_dim = max(c.event_dim for c in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        parts = taeda.split(value, self.lengths, self.dim)
        return taeda.cat([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


class _Stack(Constraint):
    """Sets along one dimension, each over one of its places.

    Args:
        cseq: the constraints, in their order.
        dim: the dimension (default: 0).

    >>> from taeda.distributions import constraints
    >>> both = constraints.stack([constraints.positive, constraints.real], 0)
    >>> both.check(taeda.tensor([1.0, -1.0]))
    tensor([True, True])
    """

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.is_discrete = any(c.is_discrete for c in self.cseq)
        self.event_dim = max(c.event_dim for c in self.cseq) + (dim < 0)

    def check(self, value: Tensor) -> Tensor:
        parts = value.unbind(self.dim)
        return taeda.stack([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


dependent = _Dependent()
independent = _Independent
boolean: Constraint = _Boolean()
one_hot: Constraint = _OneHot()
nonnegative_integer: Constraint = _IntegerGreaterThan(0)
positive_integer: Constraint = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real: Constraint = _Real()
real_vector: Constraint = independent(real, 1)
positive: Constraint = _GreaterThan(0.0)
nonnegative: Constraint = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval: Constraint = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex: Constraint = _Simplex()
lower_triangular: Constraint = _LowerTriangular()
lower_cholesky: Constraint = _LowerCholesky()
corr_cholesky: Constraint = _CorrCholesky()
square: Constraint = _Square()
symmetric: Constraint = _Symmetric()
positive_semidefinite: Constraint = _PositiveSemidefinite()
positive_definite: Constraint = _PositiveDefinite()
cat = _Cat
stack = _Stack
