"""Functions of one number, and their derivatives, within their bounds; the judge itself."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from by_path import load

import taeda

ulps = load("tools/hunt/ulps.py")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("function", ulps.FUNCTIONS, ids=str)
def test_errors_are_within_their_bounds(function, dtype):
    found = ulps.worst(function, dtype, count=14)
    for (error, at), bound in zip(found, getattr(function, dtype), strict=True):
        assert not ulps.exceeds(error, bound), (error, at)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("function", ulps.ulps_pairs.PAIRS, ids=str)
def test_errors_of_two_numbers_are_within_their_bounds(function, dtype):
    found = ulps.ulps_pairs.worst_pair(function, dtype, 12, ulps.distance)
    for (error, at), bound in zip(found, getattr(function, dtype), strict=True):
        assert not ulps.exceeds(error, bound), (error, at)


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
@pytest.mark.parametrize("function", ulps.ulps_pairs.COMPLEX, ids=str)
def test_errors_of_complex_numbers_are_within_their_bounds(function, dtype):
    found = ulps.ulps_pairs.worst_complex(function, dtype, 12)
    for (error, at), bound in zip(found, getattr(function, dtype), strict=True):
        assert not ulps.exceeds(error, bound), (error, at)


def test_a_table_of_the_page_is_replaced():
    page = "a\n\n<!-- two -->\n| f | x |\n|---|---|\n| old | 1 |\n\nb\n"
    assert ulps.put(page, "two", ["| new | 2 |"]) == page.replace("| old | 1 |", "| new | 2 |")
    with pytest.raises(AssertionError, match="no table"):
        ulps.put(page, "one", [])


def test_points_reach_every_corner():
    x = ulps.points(((0.0, 1.0),), "float64", 500, 0)
    assert x.min() < 1e-200
    assert (1 - x).min() < 1e-12
    assert ((x > 0.2) & (x < 0.8)).any()


def test_every_function_of_real_numbers_has_bounds():
    for f in (*ulps.FUNCTIONS, *ulps.ulps_pairs.PAIRS):
        assert all(map(math.isfinite, f.float64 + f.float32)), f


def test_float32_may_have_a_scale_of_its_own():
    near = ulps.Function(
        "exp", lambda x: mp.exp(x) + 2**-30, ((-20.0, -15.0),), (1,), (1,), (0,), (1,)
    )
    ((wide, _),), ((short, _),) = (ulps.worst(near, dtype, 5) for dtype in ulps.DTYPES)
    assert wide > 1000
    assert short < 1


def test_an_error_is_seen():
    wrong = ulps.Function(
        "exp", lambda x: mp.exp(x) * (1 + mp.mpf(2) ** -40), ((0.0, 1.0),), (2,), (2,)
    )
    ((error, _),) = ulps.worst(wrong, "float64", 5)
    assert error > 1000


def test_distances():
    one, largest = np.dtype("float64"), mp.mpf(1.7976931348623157e308)
    assert ulps.distance(1 + 2**-51, mp.mpf(1), 0, one, largest) == 2
    assert ulps.distance(math.nan, mp.mpf(1), 0, one, largest) == math.inf
    assert ulps.distance(math.inf, mp.mpf(1), 0, one, largest) == math.inf
    assert ulps.distance(math.inf, mp.mpf(10) ** 400, 0, one, largest) == 0
    assert ulps.distance(2**-60, mp.mpf(0), 1, one, largest) == 2**-8
    assert ulps.exceeds(math.inf, math.inf)
    assert not ulps.exceeds(1e30, math.inf)


def test_derivatives_by_differences():
    sine = ulps.Function("sin", mp.sin, ((-1.0, 1.0),), (1,), (1,))
    assert abs(ulps.derivative(sine, 0.5, 1) - mp.cos(0.5)) < 1e-15
    assert abs(ulps.derivative(sine, 0.5, 2) + mp.sin(0.5)) < 1e-15
    assert taeda.tensor(0.5).sin().item() == pytest.approx(0.479425538)
