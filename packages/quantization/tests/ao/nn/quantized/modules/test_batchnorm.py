"""Batch normalisation on integers."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized


@pytest.mark.parametrize("rank", [2, 3])
def test_of_an_observed_layer(rank):
    layer = getattr(nn, f"BatchNorm{rank}d")(3).eval()
    nn.init.uniform_(layer.running_var, 0.5, 2.0)
    x = taeda.randn(2, 3, *[4] * rank)
    layer.activation_post_process = q.MinMaxObserver()
    layer.activation_post_process(layer(x).detach())
    made = getattr(quantized, f"BatchNorm{rank}d").from_float(layer)
    given = taeda.quantize_per_tensor(x, 0.04, 128, taeda.quint8)
    assert float((made(given).dequantize() - layer(x)).abs().max()) < 0.1
    with pytest.raises(ValueError, match="dimensions"):
        made(given[0])
    assert "QuantizedBatchNorm" in repr(made)
