"""Batch normalisation on integers."""

from __future__ import annotations

import pytest
from quantized_tensors import numbers

import taeda


def test_near_the_float_one():
    x = numbers(4, 3, 5, 5)
    w, b, mean, var = taeda.rand(3) + 0.5, taeda.randn(3), taeda.randn(3), taeda.rand(3) + 0.2
    made = taeda.quantized_batch_norm(x, w, b, mean, var, 1e-5, 0.1, 128)
    wanted = taeda.nn.functional.batch_norm(x.dequantize(), mean, var, w, b).clamp(-12.8, 12.7)
    assert float((made.dequantize() - wanted).abs().max()) <= 0.051


def test_what_is_refused():
    one = taeda.ones(3)
    with pytest.raises(NotImplementedError, match="wanted a quantized tensor"):
        taeda.quantized_batch_norm(taeda.ones(1, 3, 2, 2), one, one, one, one, 1e-5, 0.1, 0)
    with pytest.raises(RuntimeError, match="wanted 3 channels"):
        taeda.quantized_batch_norm(numbers(1, 4, 2, 2), one, one, one, one, 1e-5, 0.1, 0)
    with pytest.raises(RuntimeError, match="scale above 0"):
        taeda.quantized_batch_norm(numbers(1, 3, 2, 2), one, one, one, one, 1e-5, 0.0, 0)
