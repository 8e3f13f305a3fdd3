"""Activations on integers."""

from __future__ import annotations

import pytest
from quantized_tensors import numbers

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized

F = nn.functional
LAYERS = {
    "ReLU6": (quantized.ReLU6(), F.relu6),
    "Hardswish": (quantized.Hardswish(0.05, 60), F.hardswish),
    "ELU": (quantized.ELU(0.05, 60, 1.2), lambda x: F.elu(x, 1.2)),
    "LeakyReLU": (quantized.LeakyReLU(0.05, 60, 0.1), lambda x: F.leaky_relu(x, 0.1)),
    "Sigmoid": (quantized.Sigmoid(1 / 256, 0), taeda.sigmoid),
    "Softmax": (quantized.Softmax(1, 1 / 256, 0), lambda x: x.softmax(1)),
    "PReLU": (quantized.PReLU(0.05, 60), lambda x: x),
}


@pytest.mark.parametrize("name", LAYERS)
def test_near_the_float_ones(name):
    layer, function = LAYERS[name]
    x = numbers(4, 5)
    made = layer(x)
    assert float((made.dequantize() - function(x.dequantize())).abs().max()) <= made.q_scale()


@pytest.mark.parametrize(
    "name", ["Hardswish", "ELU", "LeakyReLU", "Sigmoid", "Softmax", "PReLU", "ReLU6"]
)
def test_of_observed_layers(name):
    layer = getattr(nn, name)(1) if name == "Softmax" else getattr(nn, name)()
    layer.qconfig = q.QConfig(q.default_observer, q.MinMaxObserver)
    layer.activation_post_process = q.MinMaxObserver()
    x = taeda.randn(5, 6)
    layer.activation_post_process(layer(x).detach())
    made = getattr(quantized, name).from_float(layer)
    given = taeda.quantize_per_tensor(x, 0.05, 128, taeda.quint8)
    assert float((made(given).dequantize() - layer(x)).abs().max()) < 0.1
    if name != "ReLU6":
        with pytest.raises(NotImplementedError, match="wanted a quantized tensor"):
            made(taeda.ones(2, 3))


def test_a_softmax_wants_a_dimension():
    with pytest.raises(RuntimeError, match="wants a dimension"):
        quantized.Softmax()(numbers(2, 3))
