"""Operations of two tensors as modules."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized


def test_observed_and_converted():
    made = quantized.FloatFunctional()
    made.activation_post_process = q.MinMaxObserver()
    x = taeda.rand(3, 4)
    made.add(x, x)
    made.qconfig = q.default_qconfig
    on_integers = quantized.QFunctional.from_float(made)
    given = taeda.quantize_per_tensor(x, 1 / 255, 0, taeda.quint8)
    assert float((on_integers.add(given, given).dequantize() - 2 * x).abs().max()) < 0.02
    again = quantized.QFunctional()
    again.load_state_dict(on_integers.state_dict())
    assert again.scale == on_integers.scale


@pytest.mark.parametrize("kind", [quantized.FloatFunctional, quantized.FXFloatFunctional])
def test_floats(kind):
    made, x = kind(), taeda.tensor([[-1.0, 2.0], [3.0, -4.0]])
    assert taeda.equal(made.add_relu(x, x), (2 * x).relu())
    assert taeda.equal(made.mul(x, x), x * x)
    assert taeda.equal(made.cat([x, x], 1), taeda.cat([x, x], 1))
    assert taeda.equal(made.matmul(x, x), x @ x)
    assert taeda.equal(made.add_scalar(made.mul_scalar(x, 2.0), 1.0), 2 * x + 1)
    for module in (made, quantized.QFunctional()):
        with pytest.raises(RuntimeError, match="is not called itself"):
            module(x)
    with pytest.raises(AssertionError, match="wants a FloatFunctional"):
        quantized.QFunctional.from_float(nn.Tanh())
