"""Convolutions on integers."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_of_an_observed_layer(rank):
    layer = getattr(nn, f"Conv{rank}d")(4, 6, 2, stride=2, padding=1, groups=2)
    layer.qconfig = q.default_per_channel_qconfig
    layer.activation_post_process = q.MinMaxObserver()
    floats = taeda.rand(3, 4, *[5] * rank)
    layer.activation_post_process(layer(floats).detach())
    kind = getattr(quantized, f"Conv{rank}d")
    made = kind.from_float(layer)
    x = taeda.quantize_per_tensor(floats, 1 / 127, 0, taeda.quint8)
    assert float((made(x).dequantize() - layer(x.dequantize())).abs().max()) < 0.05
    again = kind(4, 6, 2, stride=2, padding=1, groups=2)
    again.load_state_dict(made.state_dict())
    assert taeda.equal(again(x), made(x))
    assert "groups=2" in repr(made)
    with pytest.raises(ValueError, match="dimensions"):
        made(x[0])


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_transposed(rank):
    layer = getattr(nn, f"ConvTranspose{rank}d")(4, 6, 3, stride=2, padding=1, output_padding=1)
    layer.qconfig = q.default_qconfig
    layer.activation_post_process = q.MinMaxObserver()
    floats = taeda.rand(3, 4, *[4] * rank)
    layer.activation_post_process(layer(floats).detach())
    made = getattr(quantized, f"ConvTranspose{rank}d").from_float(layer)
    x = taeda.quantize_per_tensor(floats, 1 / 127, 0, taeda.quint8)
    assert float((made(x).dequantize() - layer(x.dequantize())).abs().max()) < 0.05


def test_what_is_refused():
    with pytest.raises(NotImplementedError, match="pads with zeros or reflects"):
        quantized.Conv2d(1, 1, 1, padding_mode="circular")
    with pytest.raises(NotImplementedError, match="padding in numbers"):
        quantized.Conv2d(1, 1, 1, padding="same")
    with pytest.raises(ValueError, match="do not divide"):
        quantized.Conv2d(3, 3, 1, groups=2)
    with pytest.raises(ValueError, match="pads with zeros"):
        quantized.ConvTranspose2d(1, 1, 1, padding_mode="reflect")
    with pytest.raises(AssertionError, match="wants Conv2d"):
        quantized.Conv2d.from_float(nn.Tanh())
    with pytest.raises(RuntimeError, match="Missing key"):
        quantized.Conv2d(1, 1, 1).load_state_dict({})
