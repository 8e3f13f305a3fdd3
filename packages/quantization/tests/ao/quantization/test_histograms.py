"""Histograms over wider ranges, and the range that loses least."""

from __future__ import annotations

import taeda
from taeda.ao.quantization._histograms import best_range, rescaled


def test_a_wider_range_keeps_the_count():
    x = taeda.linspace(0, 1, 1000)
    old = (taeda.tensor(0.0), taeda.tensor(1.0))
    made = rescaled(taeda.histc(x, 64, min=0, max=1), old, (taeda.tensor(-1.0), taeda.tensor(3.0)))
    assert abs(float(made.sum()) - 1000) < 1e-2
    assert float(made[:15].sum()) == 0.0
    one = (taeda.tensor(0.5), taeda.tensor(0.5))
    made = rescaled(taeda.full((64,), 2.0), one, (taeda.tensor(0.0), taeda.tensor(1.0)))
    assert float(made.sum()) == 128.0


def test_the_range_loses_least():
    taeda.manual_seed(0)
    x = taeda.randn(20_000)
    least, most = x.aminmax()
    histogram = taeda.histc(x, 2048, min=least.item(), max=most.item())
    low, high = best_range(histogram, least, most, 16)
    assert float(least) <= float(low) < float(high) <= float(most)
    assert float(high - low) < float(most - least)

    def lost(a, b):
        step = (b - a) / 15
        return float((((x.clamp(a, b) - a) / step).round() * step + a - x).pow(2).sum())

    assert lost(float(low), float(high)) < lost(float(least), float(most))
