"""Rounding to integers and back."""

from __future__ import annotations

import pytest

import taeda
from taeda.quantization._affine import floats, integers_of, refuse_dtype, steps


def test_the_two_ways_of_rounding_differ_at_ties_alone():
    x = taeda.tensor([0.5, 0.4, 1.6])
    assert integers_of(x, 1.0, 7, taeda.quint8).tolist() == [8, 7, 9]
    assert steps(x, 1.0, 7, taeda.quint8).tolist() == [7, 7, 9]


def test_channels_come_back_in_float32():
    integers = taeda.tensor([[1, 2], [3, 4]], dtype=taeda.int8)
    scales, zeros = taeda.tensor([0.5, 0.25], dtype=taeda.float64), taeda.tensor([1, 0])
    made = floats(integers, scales, zeros, 0)
    assert (made.dtype, made.tolist()) == (taeda.float32, [[0.0, 0.5], [0.75, 1.0]])


def test_integers_of_32_bits_are_rounded_before_the_zero_point_is_taken_off():
    integers = taeda.tensor([[2**24 + 1, 2**24 + 3]], dtype=taeda.int32)
    made = floats(integers, taeda.ones(1, dtype=taeda.float64), taeda.tensor([1]), 0)
    assert made.tolist() == [[2.0**24 - 1, 2.0**24 + 4]]


def test_other_dtypes_are_refused():
    with pytest.raises(RuntimeError, match="wanted one of"):
        refuse_dtype(taeda.int8, "f")
