"""Single numbers in every dtype: rounding, range, and the narrow formats against ml_dtypes."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

import taeda

NARROW = {
    taeda.float16: np.float16,
    taeda.bfloat16: ml_dtypes.bfloat16,
    taeda.float8_e4m3fn: ml_dtypes.float8_e4m3fn,
    taeda.float8_e5m2: ml_dtypes.float8_e5m2,
    taeda.float8_e4m3fnuz: ml_dtypes.float8_e4m3fnuz,
    taeda.float8_e5m2fnuz: ml_dtypes.float8_e5m2fnuz,
}


def stored(value, dtype):
    """The number that comes back from an element of `dtype`."""
    return taeda.full((), value, dtype=dtype).item()


def samples(dtype):
    """All numbers of a narrow format within its range, halves between neighbours, and a little
    beside those.
    """
    bits = np.arange(256, dtype=np.uint8)
    if NARROW[dtype] in (np.float16, ml_dtypes.bfloat16):
        bits = (bits.astype(np.uint16) * 257) ^ 0x55
    numbers = bits.view(NARROW[dtype]).astype(np.float32)
    numbers = np.sort(numbers[np.isfinite(numbers)])
    middle = numbers[:-1] / 2 + numbers[1:] / 2
    near = np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(-np.inf))
    return np.concatenate([numbers, middle, *near])


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_rounding_is_to_nearest_even(dtype):
    x = samples(dtype)
    wanted = x.astype(NARROW[dtype]).astype(np.float32).tolist()
    assert [stored(v, dtype) for v in x.tolist()] == wanted


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_nan_stays_nan(dtype):
    assert math.isnan(stored(math.nan, dtype))


@pytest.mark.parametrize(
    ("dtype", "value", "wanted"),
    [
        (taeda.float8_e4m3fn, 1e6, 448.0),
        (taeda.float8_e4m3fn, -math.inf, -448.0),
        (taeda.float8_e5m2, 1e6, math.inf),
        (taeda.float8_e4m3fnuz, 1e6, math.nan),
        (taeda.float8_e8m0fnu, 3.0, 4.0),
        (taeda.float8_e8m0fnu, 2.9, 2.0),
        (taeda.float8_e8m0fnu, -8.0, 8.0),
        (taeda.float16, -math.inf, -math.inf),
    ],
)
def test_edges_of_narrow_formats(dtype, value, wanted):
    assert (
        stored(value, dtype) == wanted
        or math.isnan(stored(value, dtype)) == math.isnan(wanted) == 1
    )


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (taeda.uint64, 2**64 - 1),
        (taeda.int64, -(2**63)),
        (taeda.int64, 2**53 + 1),
        (taeda.uint32, 2**32 - 1),
        (taeda.int8, -128),
        (taeda.bool, True),
        (taeda.float64, 5e-324),
        (taeda.complex128, 1e300 - 2j),
        (taeda.complex32, 0.5 + 2j),
    ],
)
def test_numbers_come_back(dtype, value):
    assert stored(value, dtype) == value


def test_an_integer_reaches_float32_in_one_rounding():
    value = 2**60 + 2**36 + 1  # by way of float64 it would be rounded twice, to 2**60
    assert stored(value, taeda.float32) == float(np.float32(2**60 + 2**37))
