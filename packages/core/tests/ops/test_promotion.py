"""Type promotion: three classes of operands, and the dtype of results."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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


# ---- the whole rule, written once more ----

STEADY = settings(derandomize=True, database=None, deadline=None, max_examples=300)
INTS = ["uint8", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
#: the float that a complex number has two of
PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
DTYPES = ["bool", *INTS, *FLOATS, *PARTS]
NUMBERS = {"bool": True, "int64": 3, "float64": 0.5, "complex128": 1 + 2j}
DEFAULTS = ["float16", "bfloat16", "float32", "float64"]


def category(name):
    return 0 if name == "bool" else 1 if name in INTS else 2 if name in FLOATS else 3


def joined_floats(a, b):
    return (
        a
        if a == b
        else "float32"
        if {a, b} == {"float16", "bfloat16"}
        else max(a, b, key=FLOATS.index)
    )


def joined(a, b):
    """The dtype of two operands of one kind."""
    a, b = sorted((a, b), key=category)
    if category(b) == 3 and category(a) >= 2:
        part = joined_floats(PARTS.get(a, a), PARTS[b])
        return next(name for name, of in PARTS.items() if of == part)
    if category(a) < category(b):
        return b
    return joined_floats(a, b) if category(b) == 2 else str(np.promote_types(a, b))


def complex_of(name):
    return {"float16": "complex32", "float64": "complex128"}.get(name, "complex64")


def raised(high, low):
    """`high` beside operands that lend their category only, where it is higher."""
    if high is None or low is None:
        return high or low
    if category(low) <= category(high):
        return high
    return complex_of(high) if category(high) == 2 else low


def wanted(operands, default):
    """The dtype of [(dtype, kind)]: of tensors with dimensions, else of those without, else of numbers."""
    kinds = {"vector": None, "scalar": None, "number": None}
    for name, kind in operands:
        if kind == "number":
            name = {"float64": default, "complex128": complex_of(default)}.get(name, name)
        kinds[kind] = name if kinds[kind] is None else joined(kinds[kind], name)
    return raised(kinds["vector"], raised(kinds["scalar"], kinds["number"]))


def operand(name, kind):
    if kind == "number":
        return NUMBERS[name]
    return taeda.ones(2 if kind == "vector" else (), dtype=getattr(taeda, name))


TENSOR = st.tuples(st.sampled_from(DTYPES), st.sampled_from(["vector", "scalar"]))
OPERAND = TENSOR | st.tuples(st.sampled_from(list(NUMBERS)), st.just("number"))


@pytest.fixture
def a_default():
    before = taeda.get_default_dtype()
    yield lambda name: taeda.set_default_dtype(getattr(taeda, name))
    taeda.set_default_dtype(before)


@pytest.mark.parametrize("first", DTYPES)
def test_the_rule_for_every_pair(first):
    """What is drawn below has other default dtypes and three operands; two are few enough for all of them."""
    second = [(name, kind) for name in DTYPES for kind in ("vector", "scalar")]
    second += [(name, "number") for name in NUMBERS]
    for kind, other in itertools.product(("vector", "scalar"), second):
        dtype = getattr(taeda, wanted([(first, kind), other], "float32"))
        found = taeda.result_type(operand(first, kind), operand(*other))
        assert found is dtype, f"{first} {kind} with {other}: {found}, wanted {dtype}"


BESIDE = settings(STEADY, suppress_health_check=[HealthCheck.function_scoped_fixture])


@BESIDE
@given(TENSOR, OPERAND, st.sampled_from(DEFAULTS))
def test_the_rule_for_two(a_default, first, second, default):
    a_default(default)
    dtype = getattr(taeda, wanted([first, second], default))
    x, y = operand(*first), operand(*second)
    assert (x * y).dtype is (y * x).dtype is taeda.mul(x, y).dtype is dtype
    if second[1] != "number":
        assert taeda.result_type(x, y) is dtype
        assert taeda.can_cast(x.dtype, dtype) or category(str(x.dtype)[6:]) > category(
            str(dtype)[6:]
        )


@BESIDE
@given(TENSOR, OPERAND, OPERAND, st.sampled_from(DEFAULTS))
def test_the_rule_for_three_in_any_order(a_default, first, second, third, default):
    a_default(default)
    dtype = getattr(taeda, wanted([first, second, third], default))
    tensors = [taeda.as_tensor(operand(*o)) for o in (first, second, third) if o[1] != "number"]
    for order in itertools.permutations((first, second)):
        a, b = (operand(*o) for o in order)
        pair = getattr(taeda, wanted([first, second], default))
        assert taeda.where(taeda.tensor(True), a, b).dtype is pair
    if len(tensors) == 3 and category(str(dtype)[6:]) not in (0, 3):
        for a, b, c in itertools.permutations(tensors):
            assert taeda.clamp(a, b, c).dtype is dtype
