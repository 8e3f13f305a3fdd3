"""Writes into quantized tensors."""

from __future__ import annotations

import pytest
from quantized_tensors import channels, numbers

import taeda


def test_floats_take_the_scale_that_is_there():
    x = numbers(3)
    x.copy_(taeda.tensor([0.5, 0.14, 100.0]))
    assert x.int_repr().tolist() == [15, 11, 255]
    c = channels(2, 3)
    c.copy_(taeda.zeros(2, 3))
    assert float(c.dequantize().abs().max()) == 0.0


def test_indices_and_numbers():
    x = numbers(2, 3)
    x[0, 1] = 0.7
    x[1] = x[0]
    assert abs(float(x[1, 1].item()) - 0.7) < 1e-6
    assert x.zero_().int_repr().tolist() == [[10] * 3] * 2


def test_a_copy_takes_over_another_scale():
    x = numbers(3)
    x.copy_(numbers(3, scale=0.2, zero=3))
    assert (x.q_scale(), x.q_zero_point()) == (0.2, 3)
    with pytest.raises(NotImplementedError, match="index_put"):
        numbers(3).index_put_((taeda.tensor([0]),), taeda.tensor(1.0), accumulate=True)
