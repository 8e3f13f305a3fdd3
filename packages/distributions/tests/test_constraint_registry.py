"""From a constraint to a transform that leads into it."""

import pytest
from laws import t

import taeda
from taeda import distributions as D
from taeda.distributions import constraints, transforms

SETS = [
    constraints.real, constraints.positive, constraints.greater_than(2.0),
    constraints.less_than(-1.0), constraints.interval(1.0, 3.0),
    constraints.unit_interval, constraints.simplex, constraints.corr_cholesky,
    constraints.independent(constraints.positive, 1),
    constraints.half_open_interval(-1.0, 1.0),
    constraints.cat([constraints.positive, constraints.real], -1, [1, 2]),
]  # fmt: skip


@pytest.mark.parametrize("c", SETS, ids=repr)
def test_transforms_lead_into_their_sets(c):
    x = taeda.linspace(-2, 2, 3, dtype=taeda.float64)
    for registry in (D.biject_to, D.transform_to):
        assert c.check(registry(c)(x)).all()
    taeda.testing.assert_close(D.biject_to(c).inv(D.biject_to(c)(x)), x)


@pytest.mark.parametrize("c", [constraints.lower_cholesky, constraints.positive_definite], ids=repr)
def test_transforms_lead_into_sets_of_matrices(c):
    x = taeda.linspace(-1, 1, 9, dtype=taeda.float64).reshape(3, 3)
    assert c.check(D.transform_to(c)(x)).all()
    with pytest.raises(NotImplementedError, match="Cannot transform"):
        D.biject_to(c)


def test_a_stack_of_sets():
    c = constraints.stack([constraints.positive, constraints.unit_interval], -1)
    for registry in (D.biject_to, D.transform_to):
        assert c.check(registry(c)(t([-3.0, 3.0]))).all()


def test_a_registered_factory_is_used():
    class Mine(constraints.Constraint):
        pass

    registry = D.constraint_registry.ConstraintRegistry()

    @registry.register(Mine)
    def factory(constraint):
        return transforms.ExpTransform()

    assert registry(Mine()) == transforms.ExpTransform()
    assert registry.register(Mine(), factory) is factory
    with pytest.raises(TypeError, match="Constraint subclass or instance"):
        registry.register(int, factory)
    with pytest.raises(NotImplementedError, match="Cannot transform"):
        registry(constraints.real)
