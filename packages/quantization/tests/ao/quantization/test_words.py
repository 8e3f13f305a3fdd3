"""Ranges of dtypes, and factories."""

from __future__ import annotations

import pytest

import taeda
from taeda.ao.quantization._words import Factory, is_per_channel, is_symmetric, range_of, with_args


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        ((taeda.quint8, False, None, None), (0, 255)),
        ((taeda.qint8, True, None, None), (-64, 63)),
        ((taeda.quint8, False, 0, 127), (0, 127)),
        ((taeda.quint8, True, 0, 255), (0, 127)),
        ((taeda.quint4x2, False, None, None), (0, 15)),
    ],
)
def test_ranges(facts, wanted):
    assert range_of(*facts) == wanted


def test_what_is_refused():
    with pytest.raises(ValueError, match="dtype of integers"):
        range_of(taeda.float32, False, None, None)
    with pytest.raises(AssertionError, match="include 0"):
        range_of(taeda.quint8, False, 1, 5)
    with pytest.raises(AssertionError, match="less than"):
        range_of(taeda.quint8, False, 5, 5)


def test_schemes():
    assert is_per_channel(taeda.per_channel_symmetric)
    assert is_symmetric(taeda.per_channel_symmetric)
    assert not is_per_channel(taeda.per_tensor_affine)


def test_factories():
    made = with_args(dict, a=1).with_args(b=2)
    assert isinstance(made, Factory)
    assert made(c=3) == {"a": 1, "b": 2, "c": 3}
    assert made == with_args(dict, a=1, b=2)
    assert made != with_args(dict, a=1)
    late = made.with_callable_args(d=lambda: 4)
    assert late() == {"a": 1, "b": 2, "d": 4}
