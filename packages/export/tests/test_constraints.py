"""Constraints as objects."""

from __future__ import annotations

import pytest

from taeda.export import Constraint
from taeda.export._constraints import _Constraint, _RelaxedConstraint
from taeda.fx.experimental._contexts import StrictMinMaxConstraint
from taeda.fx.experimental._ranges import ValueRanges

GIVEN = _Constraint(1, 0, "batch", StrictMinMaxConstraint(False, ValueRanges(2, 64)))


def test_comparisons_narrow():
    for made, least, most in (
        (GIVEN >= 4, 4, 64),
        (GIVEN > 4, 5, 64),
        (GIVEN <= 8, 2, 8),
        (GIVEN < 8, 2, 7),
    ):
        assert isinstance(made, Constraint)
        assert made.serializable_spec == {"t_id": 1, "dim": 0, "min": least, "max": most}
    with pytest.raises(ValueError, match="no number"):
        GIVEN > 64  # noqa: B015


def test_chains_are_refused():
    with pytest.raises(TypeError, match="batch is neither true nor false"):
        assert 2 <= GIVEN <= 8


def test_relaxed_ones_have_a_place_only():
    assert _RelaxedConstraint(1, 2).serializable_spec == {"t_id": 1, "dim": 2}
