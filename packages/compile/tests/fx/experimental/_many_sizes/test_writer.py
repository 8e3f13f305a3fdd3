"""Expressions as nodes: each is written once, sizes are read from the first argument that has them."""

from __future__ import annotations

import operator

import pytest

import taeda
from taeda.fx.experimental.proxy_tensor import make_fx


def graph_of(f, *args):
    return make_fx(f, tracing_mode="symbolic")(*args)


def targets_of(module):
    return [n.target for n in module.graph.nodes if n.op == "call_function"]


@pytest.mark.parametrize(
    ("f", "sizes"),
    [
        (lambda x: x.reshape(x.shape[0] * x.shape[1]), (2, 3)),
        (lambda x: x.new_zeros(x.shape[0] * 2 - 1), (2, 3)),
        (lambda x: x.new_zeros(x.shape[0] // 2 + x.shape[1] % 2), (4, 3)),
        (lambda x: x.new_ones(taeda.sym_max(x.shape[0], x.shape[1])), (2, 3)),
        (lambda x: x[x.shape[0] // 2 :, ::2] * (1.0 / x.shape[1]), (4, 6)),
        (lambda x: taeda.cat([x, x.new_zeros(2, x.shape[1])]), (2, 3)),
    ],
)
def test_the_graph_computes_its_sizes(f, sizes):
    module = graph_of(f, taeda.randn(sizes))
    for factor in (1, 2, 5):
        x = taeda.randn([n * factor for n in sizes])
        assert module(x).equal(f(x))


def test_a_size_is_read_once_and_used_often():
    module = graph_of(
        lambda x: (x.new_zeros(x.shape[0] * 3), x.new_ones(x.shape[0] * 3)), taeda.ones(4, 2)
    )
    found = targets_of(module)
    assert found.count(taeda.ops.aten.sym_size.int) == 1 and found.count(operator.mul) == 1


def test_sizes_of_nested_arguments_are_reached():
    def f(d):
        second = d["pair"][1]
        return second.new_zeros(second.shape[0])

    module = graph_of(f, {"pair": (taeda.ones(1), taeda.ones(3))})
    assert module({"pair": (taeda.ones(1), taeda.ones(7))}).shape == (7,)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x.shape[0] > 3, x.shape[0] == x.shape[1], x.shape[0] / 2 != 2.0),
        lambda x: ((x.shape[0] > 3) & (x.shape[1] < 9), (x.shape[0] < 2) | (x.shape[1] > 6)),
        lambda x: (x.shape[0], x.numel(), x.shape[0] / 3, taeda.sym_not(x.shape[0] >= 6)),
        lambda x: (x.t().shape, {"n": taeda.cat([x, x]).shape[0]}, taeda.sym_max(x.shape[0], 5)),
        lambda x: (x.shape[0] - x.shape[0], x.shape[0] > x.shape[0]),
    ],
)
def test_sizes_and_answers_that_are_results_ask_nothing(f):
    module = graph_of(f, taeda.ones(4, 6))
    assert module.shape_env.format_guards() == ""
    for sizes in ((4, 6), (2, 2), (9, 7), (5, 12)):
        x = taeda.ones(sizes)
        assert repr(module(x)) == repr(f(x)).replace("taeda.Size([", "(").replace("])", ")")
