"""Normalisations within a sample."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized

LAYERS = {
    "LayerNorm": (nn.LayerNorm([3, 4, 4]), 2),
    "GroupNorm": (nn.GroupNorm(3, 3), 2),
    "InstanceNorm1d": (nn.InstanceNorm1d(3, affine=True), 1),
    "InstanceNorm2d": (nn.InstanceNorm2d(3), 2),
    "InstanceNorm3d": (nn.InstanceNorm3d(3), 3),
}


@pytest.mark.parametrize("name", LAYERS)
def test_of_an_observed_layer(name):
    layer, rank = LAYERS[name]
    x = taeda.randn(2, 3, *[4] * rank)
    layer.activation_post_process = q.MinMaxObserver()
    layer.activation_post_process(layer(x).detach())
    made = getattr(quantized, name).from_float(layer)
    given = taeda.quantize_per_tensor(x, 0.04, 128, taeda.quint8)
    assert float((made(given).dequantize() - layer(x)).abs().max()) < 0.1
    assert f"Quantized{name}" in repr(made)


def test_running_statistics_are_refused():
    with pytest.raises(NotImplementedError, match="no running statistics"):
        quantized.InstanceNorm2d(3, None, None, 1.0, 0, track_running_stats=True)
