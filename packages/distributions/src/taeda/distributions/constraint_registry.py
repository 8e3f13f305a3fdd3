"""From a constraint to a transform that leads into it: `biject_to(c)` one to one, `transform_to(c)`
perhaps not.

>>> from taeda.distributions import biject_to, constraints
>>> biject_to(constraints.positive)(taeda.tensor(0.0))
tensor(1.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], transforms.Transform]


class ConstraintRegistry:
    """Factories of transforms by type of constraint.

    >>> from taeda.distributions import biject_to, constraints
    >>> biject_to(constraints.positive)(taeda.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """

    def __init__(self) -> None:
        self._registry: dict[type, Factory] = {}

    @overload
    def register(self, constraint: Any, factory: None = None) -> Callable[[Factory], Factory]: ...
    @overload
    def register(self, constraint: Any, factory: Factory) -> Factory: ...
    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Let `factory(c)` make the transform for constraints of that type; without it, decorate
        the factory.
        """
        if factory is None:
            return lambda given: self.register(constraint, given)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}"
            )
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> transforms.Transform:
        """A new transform from unconstrained numbers into the set."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
biject_to.__doc__ = """A transform from all real numbers onto the set of a constraint, one to one.

`biject_to.register(constraint, factory)` adds a kind of constraint.

Args:
    constraint: an object from `constraints`, such as `constraints.positive`.
        NotImplementedError for one whose kind nobody registered here.

>>> from taeda.distributions import biject_to, constraints
>>> biject_to(constraints.simplex)(taeda.zeros(2))
tensor([0.3333, 0.3333, 0.3333])
"""
transform_to = ConstraintRegistry()
transform_to.__doc__ = """A transform from real numbers onto the set of a constraint, perhaps not one to one.

It may take more numbers than the set has dimensions, as softmax does, and suits an optimizer that
searches within the set. `transform_to.register(constraint, factory)` adds a kind of constraint.

Args:
    constraint: an object from `constraints`, such as `constraints.simplex`.
        NotImplementedError for one whose kind nobody registered here.

>>> from taeda.distributions import constraints, transform_to
>>> transform_to(constraints.simplex)(taeda.zeros(2))
tensor([0.5000, 0.5000])
"""


def _register_both(constraint: Any) -> Callable[[Factory], Factory]:
    def both(factory: Factory) -> Factory:
        biject_to.register(constraint, factory)
        return transform_to.register(constraint, factory)

    return both


def _is_number(bound: Any, value: int) -> bool:
    return isinstance(bound, (int, float)) and bound == value


@_register_both(constraints.real)
def _to_real(constraint: Any) -> transforms.Transform:
    return transforms.identity_transform


@biject_to.register(constraints.independent)
def _biject_to_independent(constraint: Any) -> transforms.Transform:
    base = biject_to(constraint.base_constraint)
    return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)


@transform_to.register(constraints.independent)
def _transform_to_independent(constraint: Any) -> transforms.Transform:
    base = transform_to(constraint.base_constraint)
    return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)


@_register_both(constraints.positive)
@_register_both(constraints.nonnegative)
def _to_positive(constraint: Any) -> transforms.Transform:
    return _to_above(constraint)


@_register_both(constraints.greater_than)
@_register_both(constraints.greater_than_eq)
def _to_above(constraint: Any) -> transforms.Transform:
    if _is_number(constraint.lower_bound, 0):
        return transforms.ExpTransform()
    shift = transforms.AffineTransform(constraint.lower_bound, 1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


@_register_both(constraints.less_than)
def _to_below(constraint: Any) -> transforms.Transform:
    turn = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), turn])


@_register_both(constraints.interval)
@_register_both(constraints.half_open_interval)
def _to_interval(constraint: Any) -> transforms.Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if _is_number(low, 0) and _is_number(high, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform(
        [transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)]
    )


@biject_to.register(constraints.simplex)
def _biject_to_simplex(constraint: Any) -> transforms.Transform:
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.simplex)
def _transform_to_simplex(constraint: Any) -> transforms.Transform:
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)
def _to_lower_cholesky(constraint: Any) -> transforms.Transform:
    return transforms.LowerCholeskyTransform()


@transform_to.register(constraints.positive_definite)
@transform_to.register(constraints.positive_semidefinite)
def _to_positive_definite(constraint: Any) -> transforms.Transform:
    return transforms.PositiveDefiniteTransform()


@_register_both(constraints.corr_cholesky)
def _to_corr_cholesky(constraint: Any) -> transforms.Transform:
    return transforms.CorrCholeskyTransform()


@biject_to.register(constraints.cat)
def _biject_to_cat(constraint: Any) -> transforms.Transform:
    parts = [biject_to(c) for c in constraint.cseq]
    return transforms.CatTransform(parts, constraint.dim, constraint.lengths)


@transform_to.register(constraints.cat)
def _transform_to_cat(constraint: Any) -> transforms.Transform:
    parts = [transform_to(c) for c in constraint.cseq]
    return transforms.CatTransform(parts, constraint.dim, constraint.lengths)


@biject_to.register(constraints.stack)
def _biject_to_stack(constraint: Any) -> transforms.Transform:
    return transforms.StackTransform([biject_to(c) for c in constraint.cseq], constraint.dim)


@transform_to.register(constraints.stack)
def _transform_to_stack(constraint: Any) -> transforms.Transform:
    return transforms.StackTransform([transform_to(c) for c in constraint.cseq], constraint.dim)
