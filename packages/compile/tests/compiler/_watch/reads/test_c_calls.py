from __future__ import annotations

import functools
import itertools
import math
import random

import pytest

import taeda
from taeda import nn


@pytest.mark.parametrize(
    "function",
    [
        lambda x: taeda.sin(x),
        lambda x: x.sin(),
        lambda x: x * math.sqrt(4),
        lambda x: x * max([1, 2]),
        lambda x: x if hasattr(x, "shape") else -x,
        lambda x: [x].copy(),
        lambda x: list(map(x.mul, [1, 2])),
        lambda x: "{}".format(3) and x,  # noqa: UP032 - the method of a string is what is called
    ],
)
def test_functions_that_read_their_arguments_only(watch, function):
    observer, _ = watch(function, taeda.ones(2))
    assert observer.active, observer.reason


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: x * random.random(), "random"),
        (lambda x: x.data_ptr(), "it reads Tensor.data_ptr"),
        (lambda x: taeda.Tensor.data_ptr(x), "it calls Tensor.data_ptr"),
        (lambda x: open(__file__).close(), "it calls"),
    ],
)
def test_functions_that_read_more(watch, function, reason):
    observer, _ = watch(function, taeda.ones(2))
    assert reason in observer.reason


def test_methods_that_change_an_old_container(watch):
    kept = []
    observer, _ = watch(lambda x: kept.append(1), taeda.ones(2))
    assert observer.reason == "it calls append of a container that was there before"
    assert kept == [1]


def test_a_key_function_is_observed(watch):
    order = {1: 2, 2: 1}
    observer, result = watch(lambda x: sorted([1, 2], key=lambda n: order[n]), taeda.ones(1))
    assert (observer.reason, result) == ("", [2, 1])
    order[1] = 0
    assert not observer.guards.compiled()[0]()


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.ReLU()])

    def first(self, value):
        return value


def _plus(a, b):
    return a + b


NEW = dict  # its call is what is tested

#: programs that give a module, a method or a function of their own to a function in C
GIVEN = {
    "isinstance": lambda m, x: x + 1 if isinstance(m.layers[0], nn.Linear) else x,
    "isinstance of a method": lambda m, x: x + isinstance(m.first, type(m.first)),
    "isinstance of a function": lambda m, x: x + isinstance(_plus, type(_plus)),
    "callable": lambda m, x: x + callable(m.layers[0]),
    "type": lambda m, x: x + 1 if type(m.layers[0]) is nn.Linear else x,
    "issubclass": lambda m, x: x + issubclass(type(m.layers[0]), nn.Linear),
    "len": lambda m, x: x + len(m.layers),
    "list": lambda m, x: list(m.layers)[-1](x),
    "tuple": lambda m, x: [layer(x) for layer in tuple(m.layers)],
    "reversed": lambda m, x: [layer(x) for layer in reversed(m.layers)],
    "enumerate": lambda m, x: [layer(x) + n for n, layer in enumerate(m.layers)],
    "zip": lambda m, x: [layer(x) + n for n, layer in zip([1, 2], m.layers, strict=True)],
    "iter": lambda m, x: next(iter(m.layers))(x),
    "repr": lambda m, x: x + len(repr(m.layers[1])),
    "bool": lambda m, x: x + bool(m.layers),
    "in": lambda m, x: x + (m.layers[0] in [m.layers[0]]),
    "index": lambda m, x: x + [m.layers[1], m.layers[0]].index(m.layers[0]),
    "set": lambda m, x: x + len(set([m.layers[0], m.layers[0]])),  # noqa: C405 - the call is what is tested
    "dict": lambda m, x: x + len(NEW(key=m.layers[0], func=m.first)["func"].__func__.__name__),
    "dict of functions": lambda m, x: x + (NEW(key=_plus)["key"] is _plus),
    "append": lambda m, x: (lambda a: (a.append(m.first), a[0](x) + a[0].__name__.count("i"))[1])([]),
    "map of a module": lambda m, x: list(map(m.layers[0], [x, x])),
    "map of a function": lambda m, x: list(map(_plus, [x, x], [x, 1])),
    "filter of a method": lambda m, x: x + list(filter(m.first, [0, 3]))[-1],
    "sorted by a method": lambda m, x: x + sorted([3, 1], key=m.first)[0],
    "min by a function": lambda m, x: x + min([3, -1], key=lambda v: v * v),
    "reduce": lambda m, x: functools.reduce(_plus, [x, x, x]),
    "accumulate": lambda m, x: list(itertools.accumulate([x, x], _plus)),
    "accumulate by name": lambda m, x: list(itertools.accumulate([x, x], func=_plus)),
    "starmap": lambda m, x: list(itertools.starmap(_plus, [(x, 1)])),
    "partial": lambda m, x: functools.partial(_plus, x)(1),
}  # fmt: skip


@pytest.mark.parametrize("name", GIVEN)
def test_functions_in_c_get_what_they_were_given(name):
    program, m, x = GIVEN[name], Layers(), taeda.randn(1, 2)
    compiled = taeda.compile(program)
    expected = program(m, x)
    for _ in range(4):
        found = compiled(m, x)
        assert type(found) is type(expected)
        pairs = (
            zip(found, expected, strict=True) if isinstance(found, list) else [(found, expected)]
        )
        assert all(a.equal(b) for a, b in pairs)
    assert compiled.__taeda_compiled__.reasons == []


@pytest.mark.parametrize("name", ["map", "filter", "sorted", "accumulate"])
def test_functions_that_are_called_are_observed(name):
    """What they read is guarded: with another global the graph is another one."""
    program = {
        "map": lambda x: list(map(_scaled, [x]))[-1],
        "filter": lambda x: x + len(list(filter(_scaled, [1, 0]))),
        "sorted": lambda x: x + sorted([1, -2], key=_scaled)[0],
        "accumulate": lambda x: list(itertools.accumulate([x, x], lambda a, b: _scaled(a) + b))[1],
    }[name]
    global FACTOR
    compiled, x = taeda.compile(program), taeda.randn(2)
    try:
        for factor in (1, 1, 1, -3, -3, 0):
            FACTOR = factor
            assert compiled(x).equal(program(x))
    finally:
        FACTOR = 1


FACTOR = 1


def _scaled(value):
    return value * FACTOR
