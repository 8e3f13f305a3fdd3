"""Numbers of a run: what they are in a call, and where the generator stands afterwards."""

from __future__ import annotations

import random

import taeda
from taeda.compiler._graph.scalars import Number, PythonRandom, Scalars

GIVEN = Number("given", 1)
DRAWN = Number("drawn", 0, (random.random, ()))


def test_a_number_is_computed_as_the_program_computes_it():
    less = Number("sub", None, (Number("constant", 1), GIVEN))
    both = Number("truediv", None, (less, DRAWN))
    assert both.evaluated({1: 0.25}.__getitem__, [2.0]) == (1 - 0.25) / 2.0
    assert list(both.sources()) == [GIVEN, DRAWN]


def test_numbers_of_a_call_stand_behind_its_tensors():
    scalars = Scalars([(1, GIVEN, taeda.float64)], [], {1: 3.0})
    found = [None, None]
    assert scalars.put(found, ["a tensor"], peek=False)
    assert (found[1].item(), found[1].dtype, found[1].dim()) == (3.0, taeda.float64, 0)
    scalars.places = (1,)
    assert scalars.put(found, ["a tensor", 0.1], peek=False)
    assert found[1].item() == 0.1


def test_a_number_that_cannot_be_computed_is_told():
    one = Number("truediv", None, (Number("constant", 1), GIVEN))
    assert not Scalars([(0, one, taeda.float32)], [], {1: 0.0}).put([None], [], peek=False)


def test_a_peek_leaves_the_generator_where_it_is():
    scalars, found = Scalars([(0, DRAWN, taeda.float64)], [DRAWN], {}), [None]
    state = PythonRandom().get_state()
    scalars.put(found, [], peek=True)
    assert PythonRandom().get_state().equal(state)
    seen = found[0].item()
    scalars.put(found, [], peek=False)
    assert found[0].item() == seen
    assert not PythonRandom().get_state().equal(state)
    PythonRandom().set_state(state)
    assert random.random() == seen
