"""From an observed layer to a weight in integers."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn._weights import (
    activation_parameters,
    choose_weight_observer,
    quantized_weight,
    require_qconfig,
    unseen,
)


def test_what_is_asked_of_a_layer():
    layer = nn.Linear(3, 2)
    with pytest.raises(AssertionError, match="must have a qconfig"):
        require_qconfig(layer, "Linear")
    layer.qconfig = q.default_per_channel_qconfig
    watch = choose_weight_observer(layer, layer.weight)
    made = quantized_weight(layer.weight, watch)
    assert made.qscheme() is taeda.per_channel_affine
    assert float((made.dequantize() - layer.weight).abs().max()) < 0.01
    assert activation_parameters(layer, "Linear") == (1.0, 0)
    layer.activation_post_process = q.MinMaxObserver()
    assert unseen(layer)
    with pytest.raises(RuntimeError, match="saw nothing"):
        activation_parameters(layer, "Linear")
