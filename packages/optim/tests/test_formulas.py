"""Pieces of formulas: what they compute, and which tensor they write."""

from __future__ import annotations

import pytest

import taeda
from taeda.optim import _formulas as f


def pair():
    return taeda.tensor([1.0, -2.0]), taeda.tensor([0.5, 4.0])


@pytest.mark.parametrize(
    ("decoupled", "grad", "param"),
    [
        (False, [1.0, 3.0], [1.0, -2.0]),
        (True, [0.5, 4.0], [0.5, -1.0]),
    ],
)
def test_weight_decay_is_in_the_gradient_or_in_the_parameter(decoupled, grad, param):
    p, g = pair()
    group = {"lr": 1.0, "weight_decay": 0.5, "decoupled_weight_decay": decoupled}
    assert f.decayed(p, g, group).tolist() == grad
    assert (p.tolist(), g.tolist()) == (param, [0.5, 4.0])


def test_running_means_begin_at_zero_and_go_towards_the_gradient_and_its_square():
    p, g = pair()
    state = f.first_moments(p)
    assert [t.tolist() for t in state.values()] == [[0.0, 0.0], [0.0, 0.0]]
    mean, square = f.next_moments(state, g, 0.5, 0.75)
    assert mean is state["exp_avg"] and square is state["exp_avg_sq"]
    assert (mean.tolist(), square.tolist()) == ([0.25, 2.0], [0.0625, 4.0])
    f.next_moments(state, g, 0.5, 0.75)
    assert mean.tolist() == [0.375, 3.0]


@pytest.mark.parametrize("scale", [2.0, taeda.tensor(2.0)], ids=["number", "tensor"])
def test_sums_take_numbers_and_tensors_as_their_scale(scale):
    p, g = pair()
    f.add_square(p, g, scale)
    assert p.tolist() == [1.5, 30.0]
    f.add_scaled(p, g, scale)
    assert p.tolist() == [2.5, 38.0]
    f.add_ratio(p, g, taeda.tensor([1.0, 2.0]), scale)
    assert p.tolist() == [3.5, 42.0]
