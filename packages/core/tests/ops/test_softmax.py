"""Softmax, its logarithm and their gradients against float64 formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda

RTOL = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 3e-6, "float64": 1e-14}
SHAPES = [(7,), (5, 40), (40, 5), (3, 1000), (4, 6, 5), (2, 5, 300), (2, 3, 4, 5)]


def draw(shape, dtype, seed=0, scale=3.0):
    array = np.random.default_rng(seed).standard_normal(shape) * scale
    x = taeda.from_numpy(array).to(getattr(taeda, dtype))
    return x, np.array(x.tolist()).reshape(shape)


def softmax(a, dim):
    e = np.exp(a - a.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def check(got, want, dtype):
    assert str(got.dtype) == f"taeda.{dtype}"
    np.testing.assert_allclose(np.array(got.tolist()), want, rtol=RTOL[dtype], atol=RTOL[dtype])


@pytest.mark.parametrize("dtype", RTOL)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values(shape, dtype):
    x, a = draw(shape, dtype)
    for dim in range(-1, len(shape)):
        check(taeda.softmax(x, dim), softmax(a, dim), dtype)
        logs = taeda.log_softmax(x, dim)
        np.testing.assert_allclose(
            np.array(logs.tolist()),
            np.log(softmax(a, dim)),
            rtol=3 * RTOL[dtype],
            atol=3 * RTOL[dtype],
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients(shape, dtype):
    x, a = draw(shape, dtype)
    g, b = draw(shape, dtype, seed=1)
    for dim in range(len(shape)):
        y = softmax(a, dim)
        made = taeda._softmax_backward_data(g, taeda.softmax(x, dim), dim, x.dtype)
        np.testing.assert_allclose(
            np.array(made.tolist()),
            (b - (b * y).sum(dim, keepdims=True)) * y,
            atol=20 * RTOL[dtype],
        )
        made = taeda._log_softmax_backward_data(g, taeda.log_softmax(x, dim), dim, x.dtype)
        np.testing.assert_allclose(
            np.array(made.tolist()), b - b.sum(dim, keepdims=True) * y, atol=100 * RTOL[dtype]
        )


def test_layouts_and_forms():
    x, a = draw((6, 8), "float32")
    check(x.t().softmax(1), softmax(a.T, 1), "float32")
    check(x[:, ::2].softmax(-1), softmax(a[:, ::2], 1), "float32")
    out = taeda.empty(6, 8)
    taeda.softmax(x, 0, out=out)
    check(out, softmax(a, 0), "float32")
    check(x.softmax(1, dtype=taeda.float64), softmax(a, 1), "float64")
    assert x.half().log_softmax(1, dtype=taeda.float32).dtype == taeda.float32
    assert taeda.tensor(2.0).softmax(0).item() == 1
    assert taeda.empty(0, 3).softmax(0).shape == (0, 3)
    assert taeda.ones(2, 3, device="meta").softmax(1).shape == (2, 3)


def test_large_numbers_and_infinities():
    x = taeda.tensor([[1e4, 1e4 - 1, -1e4], [0.0, -math.inf, -math.inf]])
    y = x.softmax(1).tolist()
    assert y[0][0] == pytest.approx(1 / (1 + math.exp(-1)))
    assert y[1] == [1, 0, 0]
    assert x.log_softmax(1).tolist()[1] == [0, -math.inf, -math.inf]
    spoilt = taeda.tensor([[math.nan, 0.0], [-math.inf, -math.inf], [math.inf, 0.0], [1.0, 1.0]])
    assert taeda.isnan(spoilt.softmax(1)).sum(1).tolist() == [2, 2, 2, 0]


def test_rows_that_differ_by_a_constant_give_the_same():
    x, _ = draw((4, 100), "float32")
    assert taeda.softmax(x + 64, 1).sub(taeda.softmax(x, 1)).abs().max().item() < 1e-5


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: taeda.ones(2).softmax(1), IndexError, "1"),
        (lambda: taeda.ones(2, dtype=taeda.int64).softmax(0), NotImplementedError, "Long"),
        (lambda: taeda._softmax(taeda.ones(2), 0, True), RuntimeError, "half"),
        (
            lambda: taeda._softmax_backward_data(taeda.ones(2), taeda.ones(3), 0, taeda.float32),
            RuntimeError,
            r"\[2\].*\[3\]",
        ),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
