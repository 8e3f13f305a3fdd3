"""Dropout of a quantized model: nothing, in training mode too."""

from __future__ import annotations

import taeda
from taeda import nn
from taeda.ao.nn import quantized


def test_what_goes_in_comes_out():
    x = taeda.quantize_per_tensor(taeda.arange(6.0), 0.5, 0, taeda.quint8)
    layer = quantized.Dropout(0.9).train()
    assert layer(x) is x
    assert repr(layer).startswith("QuantizedDropout(")


def test_a_layer_is_made_of_one_of_floats():
    made = quantized.Dropout.from_float(nn.Dropout(0.25, inplace=True))
    assert type(made) is quantized.Dropout and (made.p, made.inplace) == (0.25, True)
