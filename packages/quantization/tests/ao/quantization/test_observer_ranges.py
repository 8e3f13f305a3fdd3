"""Observers of ranges."""

from __future__ import annotations

import pytest

import taeda
from taeda.ao import quantization as q

X = taeda.tensor([[-1.0, 0.5], [2.0, 4.0]])


def test_ranges():
    watch = q.MinMaxObserver()
    assert watch(X) is X
    watch(X * 2)
    assert (float(watch.min_val), float(watch.max_val)) == (-2.0, 8.0)
    moving = q.MovingAverageMinMaxObserver(averaging_constant=0.5)
    moving(X)
    moving(X * 2)
    assert (float(moving.min_val), float(moving.max_val)) == (-1.5, 6.0)
    channels = q.PerChannelMinMaxObserver(ch_axis=1)
    channels(X)
    assert (channels.min_val.tolist(), channels.max_val.tolist()) == ([-1.0, 0.5], [2.0, 4.0])
    slow = q.MovingAveragePerChannelMinMaxObserver(averaging_constant=0.5)
    slow(X)
    slow(X * 2)
    assert slow.max_val.tolist() == [0.75, 6.0]


@pytest.mark.parametrize(
    "kind", [q.MinMaxObserver, q.HistogramObserver, q.PerChannelMinMaxObserver]
)
def test_reset(kind):
    watch = kind()
    assert not watch.has_seen()
    watch(X)
    assert watch.has_seen()
    watch.reset_min_max_vals()
    assert not watch.has_seen()
    with pytest.warns(UserWarning, match="seen nothing"):
        scale, zero = watch.calculate_qparams()
    assert (float(scale), int(zero)) == (1.0, 0)


@pytest.mark.parametrize("kind", [q.MinMaxObserver, q.PerChannelMinMaxObserver])
def test_nan_has_no_scale(kind):
    watch = kind()
    watch(X * float("nan"))
    with pytest.raises(RuntimeError, match="NaN"):
        watch.calculate_qparams()
    with pytest.raises(RuntimeError, match="NaN"):
        q.HistogramObserver()(X * float("nan"))


def test_histograms_leave_infinite_numbers_out():
    watch = q.HistogramObserver(bins=16)
    with pytest.warns(UserWarning, match="infinite"):
        watch(taeda.tensor([1.0, float("inf"), -1.0]))
    assert float(watch.histogram.sum()) == 2.0
    watch(taeda.empty(0))
    assert float(watch.max_val) == 1.0
