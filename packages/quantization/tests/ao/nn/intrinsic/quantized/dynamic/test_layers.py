"""A linear layer and ReLU with weights in integers."""

from __future__ import annotations

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import intrinsic


def test_results_are_not_below_0():
    model = nn.Sequential(intrinsic.LinearReLU(nn.Linear(8, 4), nn.ReLU()))
    made = q.quantize_dynamic(model, {intrinsic.LinearReLU})
    x = taeda.randn(6, 8)
    assert type(made[0]) is intrinsic.quantized.dynamic.LinearReLU
    assert float(made(x).min()) >= 0
    assert float((made(x) - model(x)).abs().max()) < 0.05
