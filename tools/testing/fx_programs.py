"""Programs and graphs for the tests of fx."""

from __future__ import annotations

import operator

import taeda
from taeda import fx

FUNCTIONS = [operator.add, operator.mul, taeda.add, taeda.sub]


def made_of(moves: list[tuple[int, int, int]]) -> fx.Graph:
    """A graph of binary functions of the values before."""
    graph = fx.Graph()
    values = [graph.placeholder("x"), graph.placeholder("input")]
    for kind, a, b in moves:
        args = (values[a % len(values)], values[b % len(values)])
        values.append(graph.call_function(FUNCTIONS[kind % 4], args))
    graph.output(values[-1])
    return graph


def same(a, b):
    """Two results are equal to the bit, structure and types included."""
    if isinstance(a, taeda.Tensor):
        assert a.dtype == b.dtype
        taeda.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        [same(a[k], b[k]) for k in a]
    elif isinstance(a, (tuple, list)):
        assert type(a) is type(b)
        assert len(a) == len(b)
        [same(x, y) for x, y in zip(a, b, strict=True)]
    else:
        assert a == b
