"""From floats to integers and back."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized


def test_there_and_back():
    stub = quantized.Quantize(0.5, 3, taeda.quint8)
    made = stub(taeda.tensor([1.0, 2.6]))
    assert stub(made) is made
    assert quantized.DeQuantize()(made).tolist() == [1.0, 2.5]
    again = quantized.Quantize(1.0, 0, taeda.quint8)
    again.load_state_dict(stub.state_dict())
    assert float(again.scale) == 0.5
    assert "zero_point" in repr(again)


def test_observers_say_the_scale():
    stub = nn.Identity()
    stub.activation_post_process = q.MinMaxObserver()
    with pytest.raises(RuntimeError, match="saw nothing"):
        quantized.Quantize.from_float(stub)
    stub.activation_post_process(taeda.tensor([0.0, 2.55]))
    assert abs(float(quantized.Quantize.from_float(stub).scale) - 0.01) < 1e-6
