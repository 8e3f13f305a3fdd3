"""Errors against arithmetic; times of layers that count their calls."""

from __future__ import annotations

import taeda
from taeda import nn
from taeda.quantization._measure import error_of, times_of


class Off(nn.Module):
    """Twice what another layer gives."""

    def __init__(self, linear):
        super().__init__()
        self.linear, self.calls = linear, 0

    def forward(self, x):
        self.calls += 1
        assert x.shape[0] in (1, 16)
        return 2 * self.linear(x)


def test_error_is_relative_and_the_same_each_time():
    linear = nn.Linear(64, 8)
    assert abs(error_of(linear, Off(linear)) - 1) < 1e-6
    assert error_of(linear, linear) == 0
    before = taeda.get_rng_state()
    error_of(linear, linear)
    assert taeda.equal(taeda.get_rng_state(), before)


def test_a_layer_of_zeros_has_no_error():
    linear = nn.Linear(64, 8, bias=False)
    nn.init.zeros_(linear.weight)
    assert error_of(linear, Off(linear)) == 0


def test_both_are_called_equally_often_and_without_gradients():
    linear = nn.Linear(64, 8)
    first, second = Off(linear), Off(linear)
    first.in_features, first.weight = 64, linear.weight
    times = times_of(first, second)
    assert first.calls == second.calls
    assert min(times) > 0
