"""Activations that keep the scale, or have one of their own."""

from __future__ import annotations

import pytest
from quantized_tensors import numbers

import taeda


@pytest.mark.parametrize(
    ("name", "dtype", "facts"),
    [
        ("sigmoid", taeda.quint8, (1 / 256, 0)),
        ("sigmoid", taeda.qint8, (1 / 256, -128)),
        ("tanh", taeda.quint8, (2 / 256, 128)),
        ("tanh", taeda.qint8, (2 / 256, 0)),
    ],
)
def test_own_scales(name, dtype, facts):
    made = getattr(taeda, name)(numbers(3, dtype=dtype))
    assert (made.q_scale(), made.q_zero_point()) == facts


def test_in_place_writes_into_views():
    x = numbers(3, 4)
    x[0].clamp_(-0.2, 0.2)
    assert float(x.dequantize()[0].abs().max()) <= 0.2001
