"""Recurrent layers with weights in integers."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn.quantized import dynamic


@pytest.mark.parametrize("how", [q.default_dynamic_qconfig, q.float16_dynamic_qconfig])
@pytest.mark.parametrize(
    "facts", [{}, {"num_layers": 2, "bidirectional": True}, {"batch_first": True, "bias": False}]
)
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_layers(kind, facts, how):
    layer = getattr(nn, kind)(6, 5, **facts)
    layer.qconfig = how
    made = getattr(dynamic, kind).from_float(layer)
    x = taeda.randn(4, 3, 6)
    one, wanted = made(x), layer(x)
    assert float((one[0] - wanted[0]).abs().max()) < 0.05
    again = getattr(dynamic, kind)(6, 5, **facts, dtype=made.dtype)
    again.load_state_dict(made.state_dict())
    assert taeda.equal(again(x, one[1])[0], made(x, one[1])[0])
    assert set(made.get_weight()) == {
        n for n, _ in layer.named_parameters() if n.startswith("weight")
    }
    assert set(made.get_bias()) == {n for n, _ in layer.named_parameters() if n.startswith("bias")}


@pytest.mark.parametrize("kind", ["LSTMCell", "GRUCell", "RNNCell"])
def test_cells(kind):
    layer = getattr(nn, kind)(6, 5)
    layer.qconfig = q.default_dynamic_qconfig
    made = getattr(dynamic, kind).from_float(layer)
    x = taeda.randn(3, 6)
    one, wanted = ((y[0] if isinstance(y, tuple) else y) for y in (made(x), layer(x)))
    assert float((one - wanted).abs().max()) < 0.05
    assert set(made.get_weight()) == {"weight_ih", "weight_hh"}
    assert made.get_bias()["bias_ih"].dtype is taeda.float32
    with pytest.raises(RuntimeError, match="wants"):
        made(taeda.randn(3, 7))
    with pytest.raises(RuntimeError, match="wants states"):
        made(x, (taeda.ones(3, 4), taeda.ones(3, 4)) if kind == "LSTMCell" else taeda.ones(3, 4))


def test_sequences_of_one_length():
    layer = nn.GRU(6, 5)
    layer.qconfig = q.default_dynamic_qconfig
    made = dynamic.GRU.from_float(layer)
    x = taeda.randn(4, 3, 6)
    packed = nn.utils.rnn.pack_padded_sequence(x, taeda.tensor([4, 4, 4]))
    assert taeda.equal(nn.utils.rnn.pad_packed_sequence(made(packed)[0])[0], made(x)[0])
    short = nn.utils.rnn.pack_padded_sequence(x, taeda.tensor([4, 3, 2]))
    with pytest.raises(NotImplementedError, match="of one length"):
        made(short)


def test_what_is_refused():
    layer = nn.LSTM(6, 5, proj_size=2)
    layer.qconfig = q.default_dynamic_qconfig
    with pytest.raises(NotImplementedError, match="projections"):
        dynamic.LSTM.from_float(layer)
    with pytest.raises(AssertionError, match="must have a qconfig"):
        dynamic.LSTM.from_float(nn.LSTM(6, 5))
    with pytest.raises(AssertionError, match="wants GRU"):
        dynamic.GRU.from_float(nn.LSTM(6, 5))
    with pytest.raises(RuntimeError, match="qint8 or float16"):
        dynamic.LSTM(6, 5, dtype=taeda.quint8)
    with pytest.raises(RuntimeError, match="'tanh' or 'relu'"):
        dynamic.RNNCell(6, 5, nonlinearity="gelu")
    with pytest.raises(RuntimeError, match="wants states"):
        dynamic.LSTM(6, 5)(taeda.ones(2, 3, 6), (taeda.ones(1, 3, 4), taeda.ones(1, 3, 4)))
