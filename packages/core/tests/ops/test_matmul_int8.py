"""int8 times int8 in int32 against numpy's int64: sizes around tiles, layouts, threads, wrapping,
refusals.
"""

from __future__ import annotations

import numpy as np
import pytest

import taeda

SIZES = [(1, 1, 1), (3, 5, 7), (12, 32, 64), (13, 33, 65), (145, 70, 2051), (300, 40, 3),
    (7, 1100, 130), (0, 3, 2), (3, 0, 2), (2, 3, 0)]  # fmt: skip


def laid_out(a, layout):
    if layout == "columns":
        return taeda.from_numpy(np.ascontiguousarray(a.T)).t()
    if layout == "gaps":
        return taeda.from_numpy(np.repeat(a, 2, 1))[:, ::2]
    return taeda.from_numpy(a)


@pytest.mark.parametrize("left", ["rows", "columns", "gaps"])
@pytest.mark.parametrize("right", ["rows", "columns", "gaps"])
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_products_are_exact(m, n, k, left, right):
    rng = np.random.default_rng(m + n + k)
    a = rng.integers(-128, 128, (m, k)).astype(np.int8)
    b = rng.integers(-128, 128, (k, n)).astype(np.int8)
    got = taeda._int_mm(laid_out(a, left), laid_out(b, right))
    assert got.dtype == taeda.int32
    np.testing.assert_array_equal(got.numpy(), a.astype(np.int64) @ b.astype(np.int64))


def test_any_number_of_threads_and_a_given_result():
    rng = np.random.default_rng(0)
    a, b = (
        taeda.from_numpy(rng.integers(-128, 128, s).astype(np.int8))
        for s in ((150, 600), (600, 2100))
    )
    want, out = a.int() @ b.int(), taeda.empty(150, 2100, dtype=taeda.int32)
    before = taeda.get_num_threads()
    try:
        for threads in (1, 2, 3):
            taeda.set_num_threads(threads)
            assert taeda.equal(taeda._int_mm(a, b, out=out), want)
            assert taeda.equal(out, want)
    finally:
        taeda.set_num_threads(before)


def test_sums_wrap_at_32_bits():
    a = taeda.full((1, 131072), -128, dtype=taeda.int8)
    assert taeda._int_mm(a, a.t()).tolist() == [[-(2**31)]]


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (taeda.ones(2, 3), taeda.ones(3, 2), "int8.*float32"),
        (
            taeda.ones(2, 3, dtype=taeda.int8),
            taeda.ones(3, 2, dtype=taeda.uint8),
            "int8 and .*uint8",
        ),
        (taeda.ones(3, dtype=taeda.int8), taeda.ones(3, 2, dtype=taeda.int8), r"\[3\]"),
        (taeda.ones(2, 3, dtype=taeda.int8), taeda.ones(2, 3, dtype=taeda.int8), "fit"),
    ],
)
def test_refusals(a, b, message):
    with pytest.raises(RuntimeError, match=message):
        taeda._int_mm(a, b)
