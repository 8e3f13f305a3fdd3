"""Sums, products and joins with a scale of their own."""

from __future__ import annotations

import pytest
from quantized_tensors import numbers

import taeda
from taeda.quantization import _arithmetic


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("name", ["add", "mul"])
def test_of_two_tensors(name, relu):
    a, b = numbers(5, 7), numbers(5, 7, scale=0.05, zero=90)
    made = getattr(_arithmetic, name)(a, b, 0.04, 128, relu)
    wanted = getattr(taeda, name)(a.dequantize(), b.dequantize())
    wanted = wanted.clamp(-5.12, 5.08)
    wanted = wanted.relu() if relu else wanted
    assert float((made.dequantize() - wanted).abs().max()) <= 0.0201


def test_joins_and_products_of_matrices():
    a, b = numbers(5, 7), numbers(7, 5, scale=0.05, zero=90)
    made = _arithmetic.matmul(a, b, 0.1, 128)
    wanted = (a.dequantize() @ b.dequantize()).clamp(-12.8, 12.7)
    assert float((made.dequantize() - wanted).abs().max()) <= 0.051
    joined = _arithmetic.cat([a, b.t()], 0, 0.1, 10)
    assert joined.q_scale() == 0.1
    assert taeda.equal(joined[:5], a)


@pytest.mark.parametrize("number", [0.5, -3.0, 100.0, 2.3, -0.07, 0.0])
def test_with_a_number(number):
    a = numbers(5, 7)
    made = _arithmetic.add_scalar(a, number)
    assert float((made.dequantize() - (a.dequantize() + number)).abs().max()) <= made.q_scale()
    made = _arithmetic.mul_scalar(a, number)
    assert taeda.allclose(made.dequantize(), a.dequantize() * number, atol=1e-6)


def test_what_is_refused():
    with pytest.raises(RuntimeError, match="one dtype"):
        _arithmetic.add(numbers(2), numbers(2, dtype=taeda.qint8), 0.1, 0)
    with pytest.raises(NotImplementedError, match="quantized add: wanted a quantized tensor"):
        _arithmetic.add(numbers(2), taeda.ones(2), 0.1, 0)
    for call in (_arithmetic.add_scalar, _arithmetic.mul_scalar):
        with pytest.raises(RuntimeError, match="finite number"):
            call(numbers(2), float("nan"))
