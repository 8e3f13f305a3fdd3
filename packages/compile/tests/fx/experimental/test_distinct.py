"""Arguments of a trace of which no two are one tensor: a graph reads each from its own place."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.fx.experimental._distinct import distinct
from taeda.fx.experimental.proxy_tensor import make_fx

MODES = ("real", "fake", "symbolic")
ONE, TWO = taeda.tensor([1.0, 2.0, 3.0]), taeda.tensor([5.0, 7.0, 11.0])


def two(a, b):
    return a * 10 + b


def tree(a, b):
    return a[0] * 10 + b["key"]


def three(a, b, c):
    return a * 100 + b * 10 + c


def writes(a, b):
    a.add_(b)
    return a * 10 + b


PROGRAMS = {
    "two arguments": (two, lambda x, y: (x, y)),
    "in trees": (tree, lambda x, y: ([x], {"key": y})),
    "three times": (three, lambda x, y: (x, y, y)),
    "written": (writes, lambda x, y: (x.clone(), y.clone())),
    "parameters": (two, lambda x, y: (nn.Parameter(x), nn.Parameter(y))),
    "with gradients": (two, lambda x, y: (x * 1, y * 1)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_one_tensor_given_twice(name, mode):
    program, given = PROGRAMS[name]
    gm = make_fx(program, tracing_mode=mode)(*given(*[taeda.ones(3)] * 2))
    assert gm(*given(ONE, TWO)).equal(program(*given(ONE, TWO)))


@pytest.mark.parametrize("mode", MODES)
def test_non_leaf_given_twice(mode):
    x = taeda.ones(3, requires_grad=True) * 2
    gm = make_fx(two, tracing_mode=mode)(x, x)
    assert gm(ONE, TWO).equal(two(ONE, TWO))


def test_gradients_of_one_tensor_given_twice():
    x = taeda.ones(3)
    gm = make_fx(taeda.func.grad(lambda a, b: (a * b * b).sum()))(x, x)
    assert gm(ONE, TWO).equal(TWO * TWO)


def test_what_was_one_tensor_is_checked_as_two():
    gm = make_fx(two, tracing_mode="symbolic")(*[taeda.ones(3)] * 2)
    with pytest.raises(RuntimeError, match="s0 is 4 in one place and 5 in another"):
        gm(taeda.ones(4), taeda.ones(5))
    x = taeda.ones(7)
    assert gm(x, x).equal(x * 11)


def test_one_tensor_in_place_of_two_is_checked():
    """Whose number differs from the trace's was called without any check."""
    gm = make_fx(lambda a, b: a * 2 if a.shape[0] > 4 else b, tracing_mode="symbolic")(
        taeda.ones(6), taeda.ones(9)
    )
    x = taeda.ones(3)
    for call in (lambda: gm(x, x), lambda: gm(x, b=x), lambda: gm(a=x, b=x)):
        with pytest.raises(RuntimeError, match="s0 > 4 does not hold"):
            call()
    with pytest.raises(RuntimeError, match="traced with 2 tensors among its arguments, and got 1"):
        gm(x, 3)


def test_trees_keep_their_kind():
    x = taeda.ones(2)
    value = {"a": (x, 1), "b": [x, "text", None], "c": taeda.max(taeda.ones(2, 2), 0)}
    made = distinct(value)
    assert made["a"][0] is x and made["b"][1:] == ["text", None]
    assert made["b"][0] is not x and made["b"][0].equal(x)
    assert type(made["c"]) is type(value["c"]) and made["c"].values is value["c"].values
