"""Running results against numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from arrays import values

import taeda

RTOL = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-5, "float64": 1e-12}
SHAPES = [(9,), (5, 40), (40, 5), (3, 4, 5), (2, 3, 300), (1, 1000)]


def draw(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    array = rng.uniform(0.5, 1.5, shape) if dtype in RTOL else rng.integers(0, 3, shape)
    return taeda.from_numpy(array).to(getattr(taeda, dtype))


@pytest.mark.parametrize("dtype", RTOL)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_and_products(shape, dtype):
    x = draw(shape, dtype)
    a = values(x)
    for dim in range(len(shape)):
        for name in ("cumsum", "cumprod"):
            got = getattr(taeda, name)(x, dim)
            assert got.dtype == x.dtype
            want = getattr(np, name)(a, axis=dim)
            np.testing.assert_allclose(values(got), want, rtol=RTOL[dtype], atol=RTOL[dtype])
        want = np.logaddexp.accumulate(a, axis=dim)
        np.testing.assert_allclose(
            values(x.logcumsumexp(dim)), want, rtol=RTOL[dtype], atol=RTOL[dtype]
        )


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64"])
def test_integers_give_int64(dtype):
    x = draw((4, 30), dtype)
    assert x.cumsum(1).dtype == taeda.int64
    assert x.cumsum(1).tolist() == np.cumsum(values(x), axis=1).tolist()
    assert x.cumsum(0, dtype=taeda.int32).dtype == taeda.int32


def test_complex_numbers():
    a = np.random.default_rng(0).standard_normal((4, 5, 2)) @ np.array([1, 1j])
    x = taeda.from_numpy(a)
    np.testing.assert_allclose(values(x.cumsum(0)), a.cumsum(0))
    np.testing.assert_allclose(values(x.cumprod(1)), a.cumprod(1))
    np.testing.assert_allclose(np.exp(values(x.logcumsumexp(1))), np.exp(a).cumsum(1))


def test_a_long_row_is_exact_and_the_same_for_any_threads():
    x = taeda.full((1_000_000,), 0.1)
    before, seen = taeda.get_num_threads(), set()
    try:
        for threads in (1, 2, 3):
            taeda.set_num_threads(threads)
            seen.add(x.cumsum(0).numpy().tobytes())
    finally:
        taeda.set_num_threads(before)
    assert len(seen) == 1
    np.testing.assert_allclose(x.cumsum(0)[-1].item(), 1e5, rtol=1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
def test_extrema_and_the_last_place_of_them(dtype):
    x = draw((5, 60), dtype if dtype in RTOL else "int64").to(getattr(taeda, dtype))
    a = values(x)
    for dim in (0, 1):
        for name, better in (("cummax", np.maximum), ("cummin", np.minimum)):
            got = getattr(x, name)(dim)
            want = better.accumulate(a, axis=dim)
            assert values(got.values).tolist() == want.tolist()
            equal = a == want
            place = np.arange(a.shape[dim]).reshape(-1, 1) if dim == 0 else np.arange(a.shape[dim])
            last = np.maximum.accumulate(np.where(equal, place, 0), axis=dim)
            assert got.indices.tolist() == last.tolist()


def test_nan_stays():
    x = taeda.tensor([1.0, math.nan, 2.0, math.nan, 3.0])
    got = x.cummax(0)
    assert taeda.isnan(got.values).tolist() == [False, True, True, True, True]
    assert got.indices.tolist() == [0, 1, 1, 3, 3]
    assert taeda.isnan(x.cumsum(0)).sum().item() == 4
    assert taeda.tensor([-math.inf, 1.0]).logcumsumexp(0).tolist() == [-math.inf, 1.0]


def test_edges_and_forms():
    assert taeda.tensor(3.0).cumsum(0).item() == 3
    assert taeda.empty(0, 3).cumsum(0).shape == (0, 3)
    x = taeda.ones(3)
    assert x.cumsum_(0) is x
    assert x.tolist() == [1, 2, 3]
    x = taeda.arange(6.0).view(2, 3)
    assert x.t().cumsum(0).tolist() == values(x.t()).cumsum(0).tolist()


def test_differences():
    a = np.random.default_rng(0).integers(0, 9, (4, 6))
    x = taeda.from_numpy(a)
    for n in (1, 2, 3):
        for dim in (0, 1):
            assert taeda.diff(x, n, dim).tolist() == np.diff(a, n, axis=dim).tolist()
    got = taeda.diff(x, prepend=x[:, :1], append=x[:, :2])
    assert got.tolist() == np.diff(a, prepend=a[:, :1], append=a[:, :2]).tolist()
    assert taeda.tensor([True, False, False]).diff().tolist() == [True, False]
    assert x.diff(9).shape == (4, 0)
    assert x.diff(2**62).shape == (4, 0)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: taeda.ones(2).cumsum(1), IndexError, "1"),
        (lambda: taeda.tensor([1]).logcumsumexp(0), NotImplementedError, "Long"),
        (lambda: taeda.tensor([1j]).cummax(0), NotImplementedError, "ComplexFloat"),
        (lambda: taeda.tensor(1.0).diff(), RuntimeError, "one-dimensional"),
        (lambda: taeda.ones(2).diff(-1), RuntimeError, "-1"),
        (lambda: taeda.ones(2).diff(prepend=taeda.ones(1, 1)), RuntimeError, "2 and 1"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_products_of_complex_numbers_do_not_depend_on_the_layout(dtype):
    taeda.manual_seed(3)
    x = taeda.randn(5, 65, dtype=taeda.complex128).to(getattr(taeda, dtype))
    rows = x.t().contiguous()
    assert x.cumprod(0).equal(rows.cumprod(1).t()) and x.prod(0).equal(rows.prod(1))
    wanted = x.clone()
    for k in range(1, 5):
        wanted[k] = wanted[k - 1] * x[k]  # one number at a time
    exact = dtype == "complex128"  # the other is accumulated in complex128
    assert x.cumprod(0).equal(wanted) if exact else x.cumprod(0).allclose(wanted, rtol=1e-5)
