"""Sets that parameters and samples lie in."""

import pytest
from laws import t

import taeda
from taeda import distributions as D
from taeda.distributions import constraints

MATRIX = taeda.tensor([[2.0, 0.3], [0.3, 1.0]], dtype=taeda.float64)


def test_constraints_say_what_is_inside():
    c = constraints
    assert c.boolean.check(t(0.0, 1.0, 2.0)).tolist() == [True, True, False]
    assert c.integer_interval(0, 3).check(t(0.0, 3.0, 1.5, 4.0)).tolist() == [
        True,
        True,
        False,
        False,
    ]
    assert c.nonnegative_integer.check(t(-1.0, 0.0)).tolist() == [False, True]
    assert c.one_hot.check(t([1.0, 0.0], [1.0, 1.0])).tolist() == [True, False]
    assert c.simplex.check(t([0.5, 0.5], [0.5, 0.6])).tolist() == [True, False]
    assert c.positive_definite.check(taeda.stack([MATRIX, -MATRIX])).tolist() == [True, False]
    assert not c.symmetric.check(t([1.0, 2.0], [3.0, 1.0]))
    assert not c.positive_semidefinite.check(t([1.0, 2.0], [2.0, 1.0]))
    assert c.is_dependent(D.Uniform.support)
    with pytest.raises(ValueError, match="dependent"):
        c.dependent.check(t(1.0))


INSIDE = {
    "boolean": (constraints.boolean, [0.0, 1.0], [0.5, -1.0]),
    "positive_integer": (constraints.positive_integer, [1.0, 7.0], [0.0, 1.5]),
    "real": (constraints.real, [-1e300, float("inf")], [float("nan")]),
    "positive": (constraints.positive, [1e-300], [0.0, -1.0]),
    "nonnegative": (constraints.nonnegative, [0.0], [-1e-300]),
    "greater_than": (constraints.greater_than(2.0), [2.1], [2.0]),
    "greater_than_eq": (constraints.greater_than_eq(2.0), [2.0], [1.9]),
    "less_than": (constraints.less_than(2.0), [1.9], [2.0]),
    "interval": (constraints.interval(1.0, 3.0), [1.0, 3.0], [0.9, 3.1]),
    "half_open_interval": (constraints.half_open_interval(1.0, 3.0), [1.0], [3.0]),
    "unit_interval": (constraints.unit_interval, [0.0, 1.0], [-0.1, 1.1]),
}


@pytest.mark.parametrize(("c", "good", "bad"), INSIDE.values(), ids=INSIDE)
def test_inside_and_outside(c, good, bad):
    assert c.check(t(good)).all()
    assert not c.check(t(bad)).any()
    assert not c.check(t(float("nan")))
    assert repr(c)


def test_sets_of_vectors():
    assert constraints.real_vector.check(t([[1.0, 2.0], [1.0, float("nan")]])).tolist() == [
        True,
        False,
    ]
    assert constraints.multinomial(3).check(t([[1.0, 2.0], [2.0, 2.0], [-1.0, 4.0]])).tolist() == [
        True,
        False,
        False,
    ]
    parts = constraints.cat([constraints.positive, constraints.real], -1, [1, 2])
    assert parts.check(t([-1.0, -1.0, 2.0])).tolist() == [False, True, True]
    rows = constraints.stack([constraints.positive, constraints.real], 0)
    assert rows.check(t([[-1.0, 1.0], [-1.0, 2.0]])).tolist() == [[False, True], [True, True]]
    with pytest.raises(ValueError, match="as many lengths"):
        constraints.cat([constraints.real], 0, [1, 2])


def test_sets_of_matrices():
    lower = t([[1.0, 0.0], [0.5, 2.0]])
    assert constraints.lower_triangular.check(lower)
    assert not constraints.lower_triangular.check(lower.mT)
    assert constraints.lower_cholesky.check(lower)
    assert not constraints.lower_cholesky.check(-lower)
    assert constraints.square.check(lower)
    assert not constraints.square.check(t([[1.0, 2.0]])).all()
    assert constraints.corr_cholesky.check(t([[1.0, 0.0], [0.6, 0.8]]))
    assert not constraints.corr_cholesky.check(lower)
    assert constraints.positive_semidefinite.check(t([[1.0, 1.0], [1.0, 1.0]]))
    assert not constraints.positive_definite.check(t([[1.0, 1.0], [1.0, 1.0]]))


def test_a_set_that_depends_says_facts_of_it():
    known = constraints.dependent(is_discrete=True, event_dim=1)
    assert (known.is_discrete, known.event_dim) == (True, 1)
    assert constraints.is_dependent(known)
    assert not constraints.is_dependent(constraints.real)
    with pytest.raises(NotImplementedError, match="no check"):
        constraints.Constraint().check(t(0.0))
