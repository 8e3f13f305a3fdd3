"""Type promotion: three classes of operands, and the dtype of results."""

from __future__ import annotations

import itertools

import pytest

import taeda

WIDTH = ["bool", "uint8", "int8", "int16", "int32", "int64"]


def vector(dtype):
    return taeda.ones(2, dtype=getattr(taeda, dtype))


def scalar(dtype):
    return taeda.ones((), dtype=getattr(taeda, dtype))


@pytest.mark.parametrize(("a", "b"), list(itertools.product(WIDTH, WIDTH)))
def test_integers_meet_in_the_wider_one(a, b):
    expected = max(a, b, key=WIDTH.index)
    if {a, b} == {"uint8", "int8"}:
        expected = "int16"
    assert (vector(a) * vector(b)).dtype is getattr(taeda, expected)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("int64", "float16", "float16"),
        ("float16", "bfloat16", "float32"),
        ("float32", "float64", "float64"),
        ("float64", "complex64", "complex128"),
        ("float16", "complex32", "complex32"),
        ("bfloat16", "complex32", "complex64"),
        ("int64", "complex64", "complex64"),
        ("uint16", "float32", "float32"),
    ],
)
def test_two_vectors(a, b, expected):
    assert taeda.result_type(vector(a), vector(b)) is getattr(taeda, expected)
    assert taeda.result_type(vector(b), vector(a)) is getattr(taeda, expected)


@pytest.mark.parametrize(
    ("high", "low", "expected"),
    [
        ("int32", "int64", "int32"),
        ("float16", "float64", "float16"),
        ("int32", "float64", "float64"),
        ("int32", "complex128", "complex128"),
        ("float32", "complex128", "complex64"),
        ("bool", "int8", "int8"),
    ],
)
def test_a_scalar_tensor_lends_its_category_only(high, low, expected):
    assert (vector(high) + scalar(low)).dtype is getattr(taeda, expected)
    assert (scalar(low) + vector(high)).dtype is getattr(taeda, expected)


@pytest.mark.parametrize(
    ("dtype", "number", "expected"),
    [
        ("int32", 5, "int32"),
        ("uint8", -1, "uint8"),
        ("bool", 1, "int64"),
        ("bool", True, "bool"),
        ("int32", 1.5, "float32"),
        ("float16", 1e30, "float16"),
        ("bfloat16", 2, "bfloat16"),
        ("float16", 1j, "complex32"),
        ("bfloat16", 1j, "complex64"),
        ("float64", 1j, "complex128"),
        ("int64", 1j, "complex64"),
        ("uint16", 2, "uint16"),
    ],
)
def test_a_number_lends_its_category_only(dtype, number, expected):
    assert (vector(dtype) * number).dtype is getattr(taeda, expected)
    assert (number * scalar(dtype)).dtype is getattr(taeda, expected)


def test_default_dtype_decides_for_numbers_and_integers():
    try:
        taeda.set_default_dtype(taeda.float64)
        assert (vector("int32") * 1.5).dtype is taeda.float64
        assert taeda.exp(vector("int32")).dtype is taeda.float64
        assert (vector("int32") * 1j).dtype is taeda.complex128
    finally:
        taeda.set_default_dtype(taeda.float32)


@pytest.mark.parametrize("dtype", WIDTH)
def test_functions_of_integers_give_the_default_float(dtype):
    for name in ("exp", "sqrt", "sin", "sigmoid", "reciprocal"):
        assert getattr(taeda, name)(vector(dtype)).dtype is taeda.float32
    assert (vector(dtype) / vector(dtype)).dtype is taeda.float32


def test_values_are_never_looked_at():
    assert (taeda.tensor([1], dtype=taeda.uint8) + 300).tolist() == [45]
    assert (taeda.tensor([1], dtype=taeda.int8) + taeda.tensor(300)).tolist() == [45]


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ("uint16", "int64", "uint16, uint32, uint64 types is not supported, .* UInt16 and Long"),
        ("uint32", "bool", "UInt32 and Bool"),
        ("uint64", "complex64", "UInt64 and ComplexFloat"),
        ("float8_e4m3fn", "float32", "Float8 Types is not supported, .* Float8_e4m3fn and Float"),
        ("float8_e4m3fn", "float8_e5m2", "Float8_e4m3fn and Float8_e5m2"),
    ],
)
def test_pairs_that_do_not_promote(a, b, message):
    with pytest.raises(RuntimeError, match=message):
        vector(a) * vector(b)
