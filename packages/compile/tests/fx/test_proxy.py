"""Proxies refuse what a graph cannot hold, and name the line."""

from __future__ import annotations

import pytest

import taeda
from taeda import fx


def branches(x):
    if x.sum() > 0:
        return x
    return -x


def loops(x):
    for row in x:
        x = x + row
    return x


def spreads(x):
    return taeda.add(*x)


def counts(x):
    return [0] * x.__len__()


def ranges(x):
    return [i for i in range(x)]  # noqa: C416 - the loop is what is refused


def asserts(x):
    assert x.shape[0] == 2
    return x


REFUSED = [
    (branches, ValueError, "cannot be used as inputs to control flow", "if x.sum() > 0:"),
    (asserts, ValueError, "cannot be used as inputs to control flow", "assert x.shape[0] == 2"),
    (loops, ValueError, "Proxy object cannot be iterated", "for row in x:"),
    (spreads, ValueError, "Proxy object cannot be iterated", "return taeda.add(*x)"),
    (counts, RuntimeError, "'len' is not supported in symbolic tracing", "x.__len__()"),
    (ranges, TypeError, "cannot be interpreted as an integer", "in range(x)"),
]


@pytest.mark.parametrize(
    ("program", "kind", "text", "line"), REFUSED, ids=lambda v: getattr(v, "__name__", "")
)
def test_refusals_name_the_line(program, kind, text, line):
    with pytest.raises(kind, match=text) as caught:
        fx.symbolic_trace(program)
    assert line in str(caught.value)
    assert __file__ in str(caught.value)


COLUMN = taeda.arange(3.0).reshape(3, 1)
OF_REAL_TENSORS = [
    lambda x: COLUMN.expand(x.shape),
    lambda x: COLUMN.expand(x.size(0), x.size(1)),
    lambda x: COLUMN.expand(size=x.shape),
    lambda x: COLUMN.repeat(1, x.size(1)),
    lambda x: COLUMN.reshape(x.size(0)),
    lambda x: COLUMN.view(x.size(0)),
    lambda x: COLUMN.view([1, x.size(0)]),
    lambda x: COLUMN.flatten().unflatten(0, (x.size(0), 1)),
    lambda x: COLUMN.new_zeros(x.shape),
    lambda x: COLUMN.new_full((x.size(0), 2), 3.0),
    lambda x: COLUMN.narrow(0, 0, x.size(1)),
    lambda x: COLUMN.sum(x.dim() - 1),
    lambda x: COLUMN.roll(x.size(0) - 1, 0),
    lambda x: COLUMN.to(x.dtype),
    lambda x: COLUMN.to(x),
    lambda x: COLUMN.type_as(x),
    lambda x: COLUMN[x.size(1)],
    lambda x: COLUMN[: x.size(1)],
    lambda x: COLUMN[0, x.dim() - 2],
    lambda x: COLUMN.index_select(0, x[0].long()),
    lambda x: COLUMN.where(x > 0, x),
    lambda x: COLUMN.to(x.dtype) @ x[:1],
    lambda x: taeda.full(x.shape, 2.0),
]


@pytest.mark.parametrize("program", OF_REAL_TENSORS, ids=range(len(OF_REAL_TENSORS)))
def test_methods_of_real_tensors_take_proxies(program):
    graph = fx.symbolic_trace(program)
    for x in (taeda.ones(3, 2), taeda.ones(3, 2, dtype=taeda.float64)):
        made, expected = graph(x), program(x)
        assert made.dtype is expected.dtype
        assert made.equal(expected)


def test_assertions_about_proxies_are_nodes_of_a_graph_that_somebody_builds():
    graph = fx.Graph()
    x = fx.Proxy(graph.placeholder("x"), fx.proxy.GraphAppendingTracer(graph))
    taeda._assert(x.shape[-1] == 3, "three columns")
    graph.output((x + 1).node)
    module = fx.GraphModule(taeda.nn.Module(), graph)
    assert module(taeda.ones(2, 3)).tolist() == [[2, 2, 2]] * 2
    with pytest.raises(AssertionError, match="three columns"):
        module(taeda.ones(3, 2))
