from __future__ import annotations

import functools
import inspect

import pytest

import taeda
from taeda.compiler._compiled import Compiled
from taeda.compiler._wrapper import wrapper


def two(x, y):
    """Its words."""
    return x * 2 + y


def later(x, y=1, *more, scale=2, **rest):
    return x * scale + y + sum(more) + sum(rest.values())


def only_by_place(x, y, /):
    return x - y


def none():
    return taeda.ones(1)


def with_a_cell(x, y):
    def total():
        return x + y

    return total()


CALLS = [
    (two, (1.0, 2.0), {}),
    (two, (1.0,), {"y": 2.0}),
    (two, (), {"y": 2.0, "x": 1.0}),
    (later, (1.0,), {}),
    (later, (1.0, 2.0, 3.0, 4.0), {"scale": 3, "more_of_it": 1}),
    (only_by_place, (1.0, 2.0), {}),
    (none, (), {}),
    (with_a_cell, (1.0,), {"y": 2.0}),
    (functools.partial(two, 1.0), (2.0,), {}),
]


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize(("function", "args", "kwargs"), CALLS)
def test_calls_come_as_they_were_made(function, args, kwargs, closed):
    state = Compiled(function)
    call = wrapper(function, state)
    state.off = closed
    given, named = [taeda.tensor(a) for a in args], {k: taeda.tensor(v) for k, v in kwargs.items()}
    for _ in range(3):
        assert call(*given, **named).equal(function(*given, **named))
    assert bool(state.traces) != closed


def test_it_looks_like_the_function():
    call = taeda.compile(two)
    assert (call.__name__, call.__doc__, call.__module__) == ("two", "Its words.", __name__)
    assert inspect.isfunction(call) and str(inspect.signature(call)) == "(x, y)"


@pytest.mark.parametrize(("args", "kwargs"), [((1,), {}), ((1, 2, 3), {}), ((1, 2), {"z": 3})])
def test_a_wrong_call_raises_the_error_of_the_function(args, kwargs):
    with pytest.raises(TypeError) as expected:
        two(*args, **kwargs)
    with pytest.raises(TypeError) as found:
        taeda.compile(two)(*args, **kwargs)
    assert str(found.value) == str(expected.value)


def test_a_method_is_bound():
    class Scaled:
        scale = 3

        @taeda.compile
        def of(self, x):
            return x * self.scale

    assert [Scaled().of(taeda.ones(1)).item() for _ in range(4)] == [3.0] * 4


def test_parameters_named_as_the_way_to_the_state():
    @taeda.compile
    def f(_compiled_gate, _compiled_state):
        return _compiled_gate - _compiled_state

    assert [f(taeda.ones(1) * 3, taeda.ones(1)).item() for _ in range(4)] == [2.0] * 4


def test_the_gate_is_told_to_who_waits_for_it():
    state, told = Compiled(two), []
    state.at_gate = told.append
    for value in (True, True, False, False):
        state.off = value
    assert told == [True, False] and not state.gate
