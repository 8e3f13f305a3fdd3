"""Equality in every bit, and copies to compare later."""

from __future__ import annotations

import pytest

import taeda
from taeda.compiler._graph.bits import contents, same

X = taeda.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        (taeda.tensor(0.0), taeda.tensor(-0.0), False),
        (taeda.tensor(float("nan")), taeda.tensor(float("nan")), True),
        (X, X.clone(), True),
        (X.t(), X.t().contiguous(), False),
        (X, X.double(), False),
        ((X, 1), (X.clone(), 1), True),
        ((X, 1), (X.clone(), 1.0), False),
        (0.0, -0.0, False),
        ("a", "a", True),
    ],
)
def test_same_tells_bits_and_layouts(a, b, alike):
    assert same(a, b) is alike
    assert same(contents(a), contents(b)) is alike


def test_contents_stay_what_they_were():
    x = taeda.ones(3)
    before = contents((x, [x[1:], None], 2))
    assert same(before, contents((x, [x[1:], None], 2)))
    x[1] = 5
    assert not same(before, contents((x, [x[1:], None], 2)))
    assert contents(taeda.empty(2, device="meta"))[:2] == (taeda.float32, (2,))
