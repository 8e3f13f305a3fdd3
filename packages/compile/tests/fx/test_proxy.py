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
