"""A linear layer on floats with a weight in integers."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn.quantized import dynamic


@pytest.mark.parametrize(
    "how", [q.default_dynamic_qconfig, q.per_channel_dynamic_qconfig, q.float16_dynamic_qconfig]
)
def test_of_a_float_layer(how):
    layer = nn.Linear(16, 5)
    layer.qconfig = how
    made = dynamic.Linear.from_float(layer)
    x = taeda.randn(3, 2, 16)
    assert float((made(x) - layer(x)).abs().max()) < 0.05
    again = dynamic.Linear(16, 5, dtype=made._packed_params.dtype)
    again.load_state_dict(made.state_dict())
    assert taeda.equal(again(x), made(x))
    assert "DynamicQuantizedLinear" in repr(made)


def test_what_is_refused():
    with pytest.raises(AssertionError, match="wants Linear"):
        dynamic.Linear.from_float(nn.Tanh())
    with pytest.raises(AssertionError, match="must have a qconfig"):
        dynamic.Linear.from_float(nn.Linear(1, 1))
    with pytest.raises(RuntimeError, match="qint8 or float16"):
        dynamic.Linear(1, 1, dtype=taeda.quint8)
