"""Which names of a function are only computed with."""

from __future__ import annotations

import ast

import pytest

from taeda.compiler._watch.scalars import drawn_names, given_names


def node(text):
    return ast.parse(text).body[0]


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("return x * w", "w x"), ("return x * (1 - w)", "w x"), ("return -w * x", "x"),
        ("return f(w) * x", "x"), ("w = 2.0; return x * w", "x"), ("w += 1; return x * w", "x"),
        ("del w; return x * 1", "x"), ("return [w * v for v in x]", ""), ("return x ** w", ""),
        ("global g; return x * w", "w x"), ("return lambda: w * x", ""),
        ("return (w := x * 1)", "x"), ("return w.real * x", "x"), ("return x[w] * 1", ""),
        ("for w in y: pass\n return x * w", "x"), ("return x", "w"), ("return x * w < 1", "w x"),
    ],
)  # fmt: skip
def test_parameters_that_are_only_operands(body, names):
    assert given_names(node(f"def f(x, w):\n {body}")) == frozenset(names.split())


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("k = random.random(); return x * k", "k"), ("k = random.random(); return k", ""),
        ("k = random.uniform(0, 1.5); return x - k", "k"), ("k = random.choice(x); return k * x", ""),
        ("k = random.uniform(x, 1); return x - k", ""), ("k = j = random.random(); return x * k", ""),
        ("k = random.random(); k = random.random(); return x * k", ""),
        ("k = random.random(); k += 1; return x * k", ""),
        ("k = random.random()\n def g(): return k * 2\n return x * k", ""),
    ],
)  # fmt: skip
def test_draws_that_are_only_operands(body, names):
    assert drawn_names(node(f"def f(x):\n {body}")) == frozenset(names.split())
