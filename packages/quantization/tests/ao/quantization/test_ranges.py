"""Scales of ranges."""

from __future__ import annotations

import pytest

import taeda
from taeda.ao.quantization._ranges import NoRange, checked, parameters

EPS = taeda.tensor([2.0**-23])


def test_the_range_holds_0():
    scale, zero = parameters(
        taeda.tensor(1.0),
        taeda.tensor(2.55),
        0,
        255,
        taeda.per_tensor_affine,
        taeda.quint8,
        EPS,
        False,
    )
    assert (round(float(scale), 6), int(zero)) == (0.01, 0)


def test_symmetric():
    scale, zero = parameters(
        taeda.tensor([-1.275]),
        taeda.tensor([1.0]),
        -128,
        127,
        taeda.per_channel_symmetric,
        taeda.qint8,
        EPS,
        False,
    )
    assert (round(float(scale), 6), int(zero)) == (0.01, 0)


def test_what_is_no_range():
    inf = taeda.tensor(float("inf"))
    assert not checked(inf, -inf, "f")
    assert not checked(taeda.empty(0), taeda.empty(0), "f")
    with pytest.raises(RuntimeError, match="NaN"):
        checked(taeda.tensor(float("nan")), taeda.tensor(1.0), "f")
    with pytest.raises(AssertionError, match="above the greatest"):
        checked(taeda.tensor(2.0), taeda.tensor(1.0), "f")


@pytest.mark.parametrize("ends", [(0.0, float("inf")), (-float("inf"), 0.0)])
def test_infinity_is_no_range(ends):
    with pytest.raises(NoRange, match=r"f: .*infinity"):
        checked(*map(taeda.tensor, ends), "f")


def test_a_range_that_float32_does_not_hold():
    ends = taeda.tensor(-3e38), taeda.tensor(3e38)
    with pytest.raises(NoRange, match=r"from -3e\+38 to 3e\+38 is wider"):
        parameters(*ends, 0, 255, taeda.per_tensor_affine, taeda.quint8, EPS, False)
