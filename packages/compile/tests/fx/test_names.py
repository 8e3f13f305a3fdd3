"""Names of nodes."""

from __future__ import annotations

import functools
import operator

import pytest

import taeda
from taeda import fx, nn
from taeda.fx._names import Namespace, candidate, qualified_name, resolve


def test_names_are_unique_stable_and_no_words_of_python():
    graph = fx.Graph()
    names = [graph.placeholder(n).name for n in ("x", "x", "x_1", "sum", "class", "3d", "taeda")]
    assert names == ["x", "x_1", "x_2", "sum_1", "class_1", "_3d", "taeda_1"]


def test_operators_that_are_words_of_python_keep_their_underscore():
    def program(x, y):
        a = x & y
        a |= x
        return a & y, x ^ y

    names = [n.name for n in fx.symbolic_trace(program).graph.nodes]
    assert names == ["x", "y", "and_", "or_", "and__1", "xor", "output"]


def test_parameters_that_collect_others_begin_with_an_underscore():
    graph = fx.symbolic_trace(lambda *xs, **words: xs[0] + words["k"]).graph
    assert [n.name for n in graph.nodes if n.op == "placeholder"] == ["_xs", "_words"]


def place():
    """A function of this module."""


@pytest.mark.parametrize(
    ("function", "name"),
    [(taeda.relu, "taeda.relu"), (operator.add, "operator.add"), (len, "len"),
     (nn.functional.interpolate, "taeda.nn.functional.interpolate"),
     (taeda.linalg.inv, "taeda.linalg.inv"), (place, f"{__name__}.place"), (lambda: 0, None),
     (functools.partial(place), None)],
)  # fmt: skip
def test_functions_are_found_again_by_their_name(function, name):
    assert qualified_name(function) == name
    if name is not None and function is not place:
        assert resolve(name) is function


@pytest.mark.parametrize("path", ["taeda.nothing", "nothing_at_all", "taeda.nn.nothing.deep"])
def test_what_is_not_there(path):
    with pytest.raises(AttributeError):
        resolve(path)


@pytest.mark.parametrize(
    ("op", "target", "wanted"),
    [("call_module", "layers.0.convOne", "layers_0_conv_one"), ("call_method", "__add__", "add"),
     ("call_function", operator.iadd, "add"),
     ("call_function", operator.getitem, "getitem"), ("call_function", nn.ReLU, "re_lu"),
     ("placeholder", "xIn", "x_in")],
)  # fmt: skip
def test_what_a_node_would_like_to_be_called(op, target, wanted):
    assert candidate(op, target) == wanted


def test_a_copy_of_a_namespace_goes_its_own_way():
    names = Namespace()
    names.reserve("y")
    assert [names.create_name(n) for n in ("x", "y", "x_7", "x", "a b", "", "9")] == [
        "x",
        "y_1",
        "x_7",
        "x_8",
        "a_b",
        "_unnamed",
        "_9",
    ]
    other = names.copy()
    assert other.create_name("x") == names.create_name("x") == "x_9"
