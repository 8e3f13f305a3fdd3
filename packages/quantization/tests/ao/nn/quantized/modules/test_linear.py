"""A linear layer on integers."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized


def test_of_an_observed_layer():
    layer = nn.Linear(4, 3)
    layer.qconfig = q.default_per_channel_qconfig
    layer.activation_post_process = q.MinMaxObserver()
    layer.activation_post_process(layer(taeda.rand(50, 4)).detach())
    made = quantized.Linear.from_float(layer)
    x = taeda.quantize_per_tensor(taeda.rand(5, 4), 1 / 127, 0, taeda.quint8)
    assert float((made(x).dequantize() - layer(x.dequantize())).abs().max()) < 0.05
    again = quantized.Linear(4, 3)
    again.load_state_dict(made.state_dict())
    assert taeda.equal(again(x), made(x))
    assert "qscheme=taeda.per_channel_affine" in repr(made)


def test_of_a_reference_and_refusals():
    class Reference:
        in_features, out_features, bias = 4, 3, None

        def get_quantized_weight(self):
            return taeda.quantize_per_tensor(taeda.ones(3, 4), 0.1, 0, taeda.qint8)

    made = quantized.Linear.from_reference(Reference(), 0.5, 3)
    assert (made.scale, made.zero_point, made.bias()) == (0.5, 3, None)
    with pytest.raises(AssertionError, match="wants Linear"):
        quantized.Linear.from_float(nn.Tanh())
    with pytest.raises(RuntimeError, match="weight in qint8"):
        quantized.Linear(2, 2, dtype=taeda.quint8)
    with pytest.raises(RuntimeError, match="Missing key"):
        made.load_state_dict({})
