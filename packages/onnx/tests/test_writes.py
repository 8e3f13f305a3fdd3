"""Which programs write what a model of values cannot say."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.export import export
from taeda.onnx._writes import in_place, needs_new_values


def own(x):
    return (x * 2).relu_().add_(1)


def read_before(x):
    y = x * 2
    z = y[0] + 1
    return y.add_(1) + z


def through_a_view(x):
    y = x * 2
    y[0] = 3
    return y


def of_the_argument(x):
    return x.add_(1)


@pytest.mark.parametrize(
    ("f", "needs"),
    [(own, False), (read_before, False), (through_a_view, True), (of_the_argument, True)],
)
def test_needs_new_values(f, needs):
    class Of(nn.Module):
        def forward(self, x):
            return f(x)

    assert needs_new_values(export(Of(), (taeda.ones(2, 2),))) is needs


def test_in_place():
    assert in_place(taeda.ops.aten.relu_.default)
    assert not in_place(taeda.ops.aten.relu.default)
