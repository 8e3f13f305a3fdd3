"""Functions of quantized tensors."""

from __future__ import annotations

import pytest
from quantized_tensors import numbers

import taeda
from taeda import nn
from taeda.ao.nn import quantized

F = quantized.functional
X = numbers(2, 3, 6, 6)
CALLS = {
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "avg_pool3d": lambda x: F.avg_pool3d(x[None], (1, 2, 2)),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 2),
    "adaptive_avg_pool3d": lambda x: F.adaptive_avg_pool3d(x[None], (1, 2, 2)),
    "max_pool1d": lambda x: F.max_pool1d(x[0], 2),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "hardtanh": lambda x: F.hardtanh(x, -0.3, 0.4),
    "clamp": lambda x: F.clamp(x, -0.3, 0.4),
    "threshold": lambda x: F.threshold(x, 0.2, 0.1),
    "elu": lambda x: F.elu(x, 0.02, 90),
    "celu": lambda x: F.celu(x, 0.02, 90),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.1, scale=0.02, zero_point=9),
    "hardswish": lambda x: F.hardswish(x, 0.02, 90),
    "hardsigmoid": F.hardsigmoid,
    "interpolate": lambda x: F.interpolate(x, scale_factor=2),
    "upsample": lambda x: F.upsample(x, scale_factor=2),
    "upsample_nearest": lambda x: F.upsample_nearest(x, scale_factor=2),
    "upsample_bilinear": lambda x: F.upsample_bilinear(x, scale_factor=2),
}


@pytest.mark.parametrize("name", CALLS)
def test_integers_come_out_and_floats_are_refused(name):
    assert CALLS[name](X).is_quantized
    with pytest.raises(ValueError, match=f"quantized.({name}|interpolate)' must be quantized"):
        CALLS[name](X.dequantize())


def test_layers():
    w = taeda.quantize_per_tensor(taeda.randn(4, 3, 2, 2), 0.02, 0, taeda.qint8)
    made = F.conv2d(X, w, None, scale=0.1, zero_point=128)
    wanted = nn.functional.conv2d(X.dequantize(), w.dequantize()).clamp(-12.8, 12.7)
    assert float((made.dequantize() - wanted).abs().max()) <= 0.051
    assert F.conv1d(X[:, :, 0], w[:, :, 0], None).is_quantized
    assert F.conv3d(X[:, :, None], w[:, :, None], None).is_quantized
    assert (
        F.linear(X, taeda.quantize_per_tensor(taeda.randn(4, 6), 0.02, 0, taeda.qint8)).q_scale()
        == 0.1
    )
    with pytest.raises(NotImplementedError, match="padding with zeros"):
        F.conv2d(X, w, None, padding_mode="reflect")
    with pytest.raises(NotImplementedError, match="takes quint8"):
        F.conv2d(X.dequantize(), w, None)
    with pytest.raises(NotImplementedError, match="return_indices"):
        F.max_pool2d(X, 2, return_indices=True)


def test_in_place():
    x = X.clone()
    assert F.hardtanh(x, -0.1, 0.1, inplace=True) is x
    assert float(x.dequantize().abs().max()) <= 0.1001
    assert F.leaky_relu(x, inplace=True) is x
    with pytest.raises(AssertionError, match="scale of its own"):
        F.leaky_relu(x, 0.1, True, 0.1, 0)
