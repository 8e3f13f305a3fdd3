"""make_tensor: ranges, layouts, refusals."""

from __future__ import annotations

import math

import pytest

import taeda
from taeda.testing import make_tensor

RANGES = {
    "bool": (0, 1),
    "uint8": (0, 9),
    "int8": (-9, 9),
    "int64": (-9, 9),
    "float16": (-9, 9),
    "float32": (-9, 9),
    "float64": (-9, 9),
    "bfloat16": (-9, 9),
    "float8_e5m2": (-8, 8),  # 9 has no place there
}


@pytest.mark.parametrize("name", RANGES)
def test_usual_range(name):
    dtype = getattr(taeda, name)
    made = make_tensor(30, 40, dtype=dtype, device="cpu")
    assert (made.dtype, made.shape) == (dtype, (30, 40))
    values = made.to(taeda.float64)
    low, high = RANGES[name]
    assert low <= values.min().item()
    assert values.max().item() <= high
    assert values.max().item() - values.min().item() > 0.9 * (high - low)


def test_complex_parts_have_the_range_each():
    made = make_tensor(500, dtype=taeda.complex64, device="cpu", low=1, high=2)
    for part in (made.real, made.imag):
        assert 1 <= part.min().item() <= part.max().item() <= 2


def test_the_range_is_cut_to_the_dtype():
    made = make_tensor(500, dtype=taeda.int8, device="cpu", low=120, high=1000)
    assert 120 <= made.min().item() <= made.max().item() <= 127
    whole = make_tensor(500, dtype=taeda.float32, device="cpu", low=-math.inf, high=math.inf)
    assert bool((whole.abs() <= taeda.finfo(taeda.float32).max).all())


@pytest.mark.parametrize("shape", [((2, 3),), ([2, 3],), (2, 3), (taeda.Size([2, 3]),)], ids=str)
def test_shapes_as_numbers_or_as_one_sequence(shape):
    assert make_tensor(*shape, dtype=taeda.float32, device="cpu").shape == (2, 3)


@pytest.mark.parametrize("name", ["float32", "int64", "bool", "complex64"])
def test_no_zeros(name):
    dtype = getattr(taeda, name)
    made = (
        make_tensor(500, dtype=dtype, device="cpu", low=0, high=1, exclude_zero=True)
        if name != "bool"
        else make_tensor(500, dtype=dtype, device="cpu", exclude_zero=True)
    )
    assert bool((made != 0).all())


def test_layouts():
    spaced = make_tensor(2, 3, dtype=taeda.float32, device="cpu", noncontiguous=True)
    assert spaced.stride() == (6, 2)
    image = make_tensor(
        1, 2, 3, 4, dtype=taeda.float32, device="cpu", memory_format=taeda.channels_last
    )
    assert image.is_contiguous(memory_format=taeda.channels_last)


def test_gradients_on_request():
    assert make_tensor(2, dtype=taeda.float32, device="cpu", requires_grad=True).requires_grad


REFUSED = {
    "reversed": ({"low": 3, "high": 1}, "3 >= 1"),
    "empty for integers": ({"low": 3, "high": 3, "dtype": taeda.int8}, "3 >= 3"),
    "nan": ({"low": math.nan}, "NaN"),
    "outside": ({"low": 1000, "high": 2000, "dtype": taeda.int8}, r"\[-128, 128\)"),
    "two layouts": ({"noncontiguous": True, "memory_format": taeda.channels_last}, "exclusive"),
    "gradients of integers": ({"requires_grad": True, "dtype": taeda.int64}, "int64"),
}


@pytest.mark.parametrize(("options", "fact"), REFUSED.values(), ids=REFUSED)
def test_refusals(options, fact):
    with pytest.raises(ValueError, match=fact):
        make_tensor(3, **{"dtype": taeda.float32, "device": "cpu", **options})


def test_one_value_for_floats_warns():
    with pytest.warns(FutureWarning, match="full"):
        made = make_tensor(3, dtype=taeda.float32, device="cpu", low=2, high=2)
    assert made.tolist() == [2.0, 2.0, 2.0]


def test_dtypes_without_numbers_are_refused():
    with pytest.raises(TypeError, match="qint8"):
        make_tensor(3, dtype=taeda.qint8, device="cpu")
