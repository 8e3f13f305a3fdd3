"""Integers that a graph computes with sizes, as formulas."""

from __future__ import annotations

import operator

import pytest

import taeda
from taeda.export._formulas_of_numbers import formula_of_node
from taeda.fx import Graph
from taeda.fx.experimental._expressions import symbol

SIZES = (1, 2, 3, 7, 12)


@pytest.mark.parametrize(
    ("function", "rest"),
    [
        (operator.add, (3,)), (operator.sub, (5,)), (operator.mul, (2,)), (operator.neg, ()),
        (operator.floordiv, (3,)), (operator.mod, (4,)), (taeda.sym_max, (5,)), (taeda.sym_min, (5,)),
    ],
)  # fmt: skip
def test_the_formula_gives_what_the_function_gives(function, rest):
    graph = Graph()
    size = graph.placeholder("size")
    size.meta["shape"] = symbol("s0")
    formula = formula_of_node(graph.call_function(function, (size, *rest)))
    assert [formula.value({"s0": n}) for n in SIZES] == [function(n, *rest) for n in SIZES]


def test_what_has_no_formula():
    graph = Graph()
    tensor, size = graph.placeholder("x"), graph.placeholder("size")
    tensor.meta["shape"], size.meta["shape"] = (symbol("s0"),), symbol("s0")
    for function, args in (
        (operator.add, (tensor, 1)), (operator.truediv, (size, 2)), (operator.add, (size, 0.5)),
        (len, ()),
    ):  # fmt: skip
        assert formula_of_node(graph.call_function(function, args)) is None
