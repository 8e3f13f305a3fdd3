"""What a graph is compared by."""

from __future__ import annotations

import math
from typing import NamedTuple

import pytest

import taeda
from taeda.compiler._call.alike import same


class Pair(NamedTuple):
    first: object
    second: object


X = taeda.tensor([[1.0, math.nan], [0.0, 2.0]])


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (X, X.clone(), True),
        (X, X.t().contiguous().t(), False),  # another layout
        (X, X.double(), False),
        (X, X + 1, False),
        (X, [1.0], False),
        (taeda.tensor([1]), taeda.tensor([2]), False),
        ([X, 3], [X.clone(), 3], True),
        ([X, 3], (X, 3), False),
        (Pair(X, 1), Pair(X.clone(), 1), True),
        ({"a": X, "b": 1}, {"a": X.clone(), "b": 1}, True),
        ({"a": X, "b": 1}, {"b": 1, "a": X}, False),  # another order
        (math.nan, math.nan, True),
        (math.nan, 1.0, False),
        (0.0, -0.0, False),
        (1, True, False),
        (1j, complex(-0.0, 1.0), False),
        (taeda.tensor([0.0]), taeda.tensor([-0.0]), False),
        (taeda.tensor([0j]), taeda.tensor([complex(0, -0.0)]), False),
        (
            taeda.tensor([0.0], dtype=taeda.bfloat16),
            -taeda.tensor([0.0], dtype=taeda.bfloat16),
            False,
        ),
        (X.to(taeda.float8_e5m2), X.to(taeda.float8_e5m2), True),
        (X.to_sparse(), X.to_sparse(), False),  # no graph gives it
        (1, 2, False),
    ],
)
def test_same_compares_every_bit_and_the_layout(a, b, wanted):
    assert same(a, b) is wanted


def test_gradients_of_a_graph_are_proved_before_it_is_trusted():
    weight = taeda.ones(3, requires_grad=True)
    f = taeda.compile(lambda x: (x * weight).exp(), backend="aot_eager")
    for _ in range(3):
        f(taeda.ones(3)).sum().backward()
    (traces,) = f.__taeda_compiled__.traces.values()
    assert [trace.trusted for trace in traces] == [True]
    assert weight.grad.equal(taeda.ones(3).exp() * 3)
