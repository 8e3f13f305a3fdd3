"""Attention whose projections are computed on integers."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized


def test_it_is_made_of_an_observed_one():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.quant, self.attention = q.QuantStub(), nn.MultiheadAttention(8, 2)

        def forward(self, x):
            x = self.quant(x)
            return self.attention(x, x, x)

    model = Model().eval()
    model.qconfig = q.default_qconfig
    ready = q.prepare(model)
    x = taeda.rand(5, 2, 8)
    wanted = model(x)[0]
    ready(x)
    made = q.convert(ready)
    assert type(made.attention) is quantized.MultiheadAttention
    assert float((made(x)[0].dequantize() - wanted).abs().max()) < 0.1
    assert float((made.attention.dequantize().eval()(x, x, x)[0] - wanted).abs().max()) < 0.1
    with pytest.raises(NotImplementedError, match="prepare"):
        quantized.MultiheadAttention.from_float(model.attention)
    with pytest.raises(AssertionError, match=r"wants nn\.quantizable"):
        quantized.MultiheadAttention.from_observed(model.attention)
