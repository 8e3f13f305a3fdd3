"""An LSTM on integers."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized


def test_it_is_made_of_an_observed_one():
    model = nn.Sequential(q.QuantStub(), nn.LSTM(3, 4)).eval()
    model.qconfig = q.default_qconfig
    ready = q.prepare(model)
    x = taeda.rand(5, 2, 3)
    wanted = model[1](x)[0]
    ready(x)
    made = q.convert(ready)
    assert type(made[1]) is quantized.LSTM
    assert float((made(x)[0].dequantize() - wanted).abs().max()) < 0.1
    with pytest.raises(NotImplementedError, match="prepare"):
        quantized.LSTM.from_float(model[1])
    with pytest.raises(AssertionError, match=r"wants nn\.quantizable\.LSTM"):
        quantized.LSTM.from_observed(model[1])
