"""What layers on integers share."""

from __future__ import annotations

import pytest

import taeda
from taeda.ao.nn import quantized
from taeda.ao.nn.quantized.modules._base import LinearPackedParams, hide_vals


def test_packed_weights_in_a_state_dict():
    one, other = LinearPackedParams(), LinearPackedParams()
    w = taeda.quantize_per_tensor(taeda.randn(3, 2), 0.1, 0, taeda.qint8)
    one.set_weight_bias(w, taeda.ones(3))
    other.load_state_dict(one.state_dict())
    assert taeda.equal(other._weight_bias()[0], w)
    assert list(one.state_dict()) == ["dtype", "_packed_params"]
    with pytest.raises(RuntimeError, match="Missing key"):
        other.load_state_dict({})


def test_what_is_refused():
    with pytest.raises(RuntimeError, match="qint8 or float16"):
        LinearPackedParams(taeda.qint32)
    with pytest.raises(RuntimeError, match="does not fit"):
        LinearPackedParams().set_weight_bias(taeda.ones(3, 2), taeda.ones(4))
    with pytest.raises(RuntimeError, match="wanted a quantized weight"):
        hide_vals(taeda.ones(2), "f")
    for name in ("weight", "bias"):
        with pytest.raises(NotImplementedError):
            getattr(quantized.WeightedQuantizedModule(), name)()


def test_the_text_of_a_layer_leaves_its_packed_weights_out():
    from taeda.ao.nn.quantized import Embedding, Linear
    from taeda.ao.nn.quantized.dynamic import LSTM, GRUCell

    layers = Linear(3, 2), Embedding(3, 4), LSTM(3, 2), GRUCell(2, 2)
    for layer in layers:
        assert repr(layer).count("\n") == 0 and "tensor(" not in repr(layer)
    layers[0].add_module("other", taeda.nn.ReLU())
    assert "(other): ReLU()" in repr(layers[0])
