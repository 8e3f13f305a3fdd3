from __future__ import annotations

import functools
import gc
import inspect
import weakref

import pytest

import taeda
from taeda.compiler._call.compiled import Compiled
from taeda.compiler._call.wrapper import wrapper


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


SCALE = 3.0


def makers():
    """Functions that nobody holds but who gets them."""
    step = 2.0

    class Own:
        factor = 3.0

        def of(x):
            return x * __class__.factor

    return {
        "plain": lambda: lambda x: x * 2,
        "cells": lambda: lambda x: x * step + makers.__code__.co_argcount,
        "globals": lambda: lambda x: x * SCALE,
        "defaults": lambda: (
            lambda x, y=4.0, *more, z=1.0, **rest: x * y + z + len(more) + len(rest)
        ),
        "by place": lambda: eval("lambda x, /: x - 1"),
        "parameters": lambda: lambda args, kwargs=1: args + kwargs,
        "class": lambda: Own.of,
    }


@pytest.mark.parametrize("name", makers())
def test_a_function_that_nobody_else_holds_lends_its_code(name):
    make = makers()[name]
    expected, x = make(), taeda.ones(2)
    state = Compiled(make())
    call = wrapper(state.function, state, alone=True)
    result = call(x)
    for closed in (True, False, True):
        state.off = closed
        assert (call.__code__ is state.function.__code__) == closed
        assert call(x).equal(result)
    assert result.equal(expected(x))
    assert inspect.signature(call) == inspect.signature(expected)


def test_a_generator_keeps_its_code():
    def rows(x):
        yield from x

    state, x = Compiled(rows), taeda.arange(3.0)
    call = wrapper(rows, state, alone=True)
    code = call.__code__
    for closed in (False, True):
        state.off = closed
        assert [row.item() for row in call(x)] == [0.0, 1.0, 2.0]
        assert call.__code__ is code


def _closed(call):
    call.__taeda_compiled__.off = True
    return call


def test_who_is_held_by_others_is_called_each_time():
    def held(x):
        return x + 1

    @taeda.compile
    def decorated(x):
        return x + 1

    assert _closed(decorated).__code__ is decorated.__wrapped__.__code__
    unnamed = _closed(taeda.compile(lambda x: x + 1))
    assert unnamed.__code__ is unnamed.__wrapped__.__code__
    call = _closed(taeda.compile(held))
    held.__code__ = (lambda x: x - 1).__code__
    assert call(taeda.ones(1)).item() == 0
    kept = [lambda x: x + 1]
    assert _closed(taeda.compile(kept[0])).__code__ is not kept[0].__code__


def test_a_closed_gate_opens_again_with_the_graphs():
    call = _closed(taeda.compile(lambda x: (x * 2 + 1).sum()))
    x = taeda.ones(3)
    assert call(x) == 9 and not call.__taeda_compiled__.traces
    call.__taeda_compiled__.reset()
    assert call(x) == 9 and call.__taeda_compiled__.traces


class _Owner:
    def __init__(self, closed):
        self.call = taeda.compile(lambda x, owner=self: x + len(vars(owner)))
        self.step = taeda.compile(lambda: self)
        for made in (self.call, self.step):
            made.__taeda_compiled__.off = closed


@pytest.mark.parametrize("closed", [True, False])
def test_a_function_that_reads_its_compiled_self_is_freed(closed):
    """A code is no container for the collector of cycles, so none may hold the state."""
    owner = _Owner(closed)
    assert owner.step() is owner and owner.call(taeda.ones(1)).item() == 3
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_defaults_that_are_given_to_what_compile_returned():
    held = taeda.compile(later)
    x = taeda.ones(2)
    assert held.__defaults__ == (1,) and held.__kwdefaults__ == {"scale": 2}
    for _ in range(3):
        assert held(x).eq(3).all()
    held.__defaults__ = (5,)
    assert held(x).eq(7).all()
    held.__kwdefaults__ = {"scale": 3}
    assert held(x).eq(8).all() and later(x).eq(3).all()


def test_defaults_of_the_function_itself_are_followed():
    def own(x, y=1):
        return x + y

    kept = [own]  # somebody else holds it
    held = taeda.compile(own)
    x = taeda.ones(2)
    for _ in range(3):
        assert held(x).eq(2).all()
    kept[0].__defaults__ = (4,)
    assert held(x).eq(5).all()


def test_what_stands_in_for_a_function_with_defaults_is_no_cycle():
    def own(x, y=1):
        return x + y

    kept = [own]
    held = taeda.compile(own)
    gone = weakref.ref(held)
    gc.disable()
    try:
        del held
        assert gone() is None and kept
    finally:
        gc.enable()
