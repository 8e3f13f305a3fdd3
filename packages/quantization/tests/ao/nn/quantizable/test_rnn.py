"""An LSTM that can be observed."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantizable


@pytest.mark.parametrize(
    "facts", [{}, {"num_layers": 2, "bidirectional": True}, {"batch_first": True}]
)
def test_it_computes_what_the_float_one_does(facts):
    layer = nn.LSTM(3, 4, **facts).eval()
    layer.qconfig = q.default_qconfig
    made = quantizable.LSTM.from_float(layer)
    x = taeda.randn(5, 2, 3)
    (one, ends), (wanted, last) = made(x), layer(x)
    assert taeda.allclose(one, wanted, atol=1e-5)
    assert all(taeda.allclose(a, b, atol=1e-5) for a, b in zip(ends, last, strict=True))
    again, _ = made(x, last)
    assert taeda.allclose(again, layer(x, last)[0], atol=1e-5)


def test_cells_and_refusals():
    cell = nn.LSTMCell(3, 4)
    made = quantizable.LSTMCell.from_float(cell)
    x = taeda.randn(2, 3)
    assert taeda.allclose(made(x)[0], cell(x)[0], atol=1e-5)
    with pytest.raises(AssertionError, match=r"wants nn\.LSTM"):
        quantizable.LSTM.from_float(nn.GRU(1, 1))
    with pytest.raises(NotImplementedError, match="projections"):
        quantizable.LSTM.from_float(nn.LSTM(3, 4, proj_size=2))
    with pytest.raises(NotImplementedError, match="from_observed"):
        quantizable.LSTM.from_observed(None)
