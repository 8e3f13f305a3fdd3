"""Distances between rows against scipy; renorm against its definition."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import scipy.spatial.distance

import taeda


def draw(*shape, seed=0):
    return taeda.from_numpy(np.random.default_rng(seed).standard_normal(shape))


METRICS = {0: "hamming", 1: "cityblock", 2: "euclidean", 3.5: "minkowski", math.inf: "chebyshev"}


@pytest.mark.parametrize("p", METRICS)
@pytest.mark.parametrize("rows", [(3, 4), (40, 30), (1, 1)])
def test_cdist(p, rows):
    a, b = draw(rows[0], 5), draw(rows[1], 5, seed=1)
    more = {"p": p} if METRICS[p] == "minkowski" else {}
    want = scipy.spatial.distance.cdist(a.numpy(), b.numpy(), METRICS[p], **more)
    want = want * 5 if p == 0 else want
    np.testing.assert_allclose(taeda.cdist(a, b, p).numpy(), want, rtol=1e-10)


@pytest.mark.parametrize("mode", ["use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"])
def test_cdist_modes_layouts_and_batches(mode):
    a, b = draw(2, 1, 5, 30).transpose(-1, -2), draw(3, 40, 5, seed=1)[:, ::2]
    got = taeda.cdist(a, b, compute_mode=mode)
    assert got.shape == (2, 3, 30, 20)
    want = np.linalg.norm(a.numpy()[..., :, None, :] - b.numpy()[..., None, :, :], axis=-1)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-10)


def test_rows_far_from_the_origin_keep_their_digits():
    a = draw(30, 3).float() + 1000
    got = taeda.cdist(a, a.clone())
    want = taeda.cdist(a.double(), a.double(), compute_mode="donot_use_mm_for_euclid_dist")
    assert (got.double() - want).abs().max() < 5e-3
    assert (got.double() - want).abs().mean() < 1e-4


def test_cdist_of_nothing():
    assert taeda.cdist(taeda.ones(0, 3), taeda.ones(4, 3)).shape == (0, 4)
    assert taeda.cdist(taeda.ones(2, 0), taeda.ones(30, 0)).tolist() == [[0.0] * 30] * 2
    assert taeda.cdist(taeda.full((1, 2), math.nan), taeda.ones(1, 2)).isnan().all()


@pytest.mark.parametrize("p", [0.5, 1, 2, math.inf])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_renorm(p, dim):
    x = draw(3, 4, 5)
    got = x.renorm(p, dim, 1.5)
    for k in range(x.size(dim)):
        slice_, made = x.select(dim, k).numpy().ravel(), got.select(dim, k).numpy().ravel()
        norm = np.abs(slice_).max() if p == math.inf else (np.abs(slice_) ** p).sum() ** (1 / p)
        np.testing.assert_allclose(made, slice_ * min(1, 1.5 / (norm + 1e-7)), rtol=1e-6)
    assert taeda.equal(x.clone().renorm_(p, dim, 1.5), got)
    assert taeda.equal(x.renorm(p, dim, 1e6), x)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: taeda.cdist(taeda.ones(3), taeda.ones(2, 3)), RuntimeError,
            "at least 2D tensors, X1 got: 1D"),
        (lambda: taeda.cdist(taeda.ones(2, 2), taeda.ones(2, 3)), RuntimeError, "X1: 2 X2: 3"),
        (lambda: taeda.cdist(taeda.ones(2, 2).long(), taeda.ones(2, 2)), RuntimeError, "floating-point"),
        (lambda: taeda.cdist(taeda.ones(2, 2), taeda.ones(2, 2), -1), RuntimeError, "non-negative p"),
        (lambda: taeda.cdist(taeda.ones(2, 2), taeda.ones(2, 2), 2, "mm"), ValueError, "mm is not a valid"),
        (lambda: taeda.renorm(taeda.ones(2), 2, 0, 1), RuntimeError, "at least 2 dimensions, got 1"),
        (lambda: taeda.renorm(taeda.ones(2, 2), 0, 0, 1), RuntimeError, "non-positive norm"),
        (lambda: taeda.renorm(taeda.ones(2, 2), 2, 0, -1), RuntimeError, "maxnorm to be >= 0"),
        (lambda: taeda.renorm(taeda.ones(2, 2), 2, 2, 1), IndexError, r"\[-2, 1\], but got 2"),
    ],
)  # fmt: skip
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("p", METRICS)
@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 33, 65), (5, 40, 200), (2, 0, 3), (3, 4, 0)])
def test_rows_of_any_number_and_length(dtype, p, sizes):
    rows, others, n = sizes
    a, b = (
        draw(2, n, rows).mT.to(getattr(taeda, dtype)),
        draw(2, others, n, seed=1).to(getattr(taeda, dtype)),
    )
    got = taeda._row_distances(a, b, p)
    size = np.abs(a.double().numpy()[:, :, None] - b.double().numpy()[:, None])
    if p == math.inf:
        want = size.max(-1, initial=0)
    else:
        want = (size != 0).sum(-1) if p == 0 else (size**p).sum(-1) ** (1 / p)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-12 if dtype == "float64" else 2e-6)


@pytest.mark.parametrize("p", [0, 1, 1.5, 2, 3, 4, math.inf])
def test_slopes_of_distances_are_those_of_the_differences(p):
    a, b, grad = draw(4, 70), draw(90, 70, seed=1), draw(4, 90, seed=2)
    far = taeda._row_distances(a, b, p)
    got = taeda._row_distances_backward(grad, a, b, p, far).numpy()
    d, far = a.numpy()[:, None] - b.numpy(), far.numpy()[..., None]
    if p == 0:
        slope = 0 * d
    elif p == math.inf:
        slope = np.sign(d) * (np.abs(d) == far)
    else:
        slope = np.sign(d) * (np.abs(d) / far) ** (p - 1)
    np.testing.assert_allclose(
        got, (grad.numpy()[..., None] * slope).sum(1), rtol=1e-10, atol=1e-12
    )


def test_nothing_is_pulled_where_rows_coincide():
    x = taeda.ones(2, 3)
    for p in (1, 2, 3, math.inf):
        pull = taeda._row_distances_backward(taeda.ones(2, 2), x, x, p, taeda.zeros(2, 2))
        assert pull.abs().sum().item() == 0


@pytest.mark.parametrize("p", [1, 2, 3, math.inf])
def test_distances_keep_a_nan(p):
    x = taeda.ones(2, 3)
    x[1, 1] = math.nan
    assert taeda._row_distances(x, x, p).isnan().tolist() == [[False, True], [True, True]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: taeda._row_distances(taeda.ones(3), taeda.ones(2, 3), 2), RuntimeError, "(..., P, M)"),
        (lambda: taeda._row_distances(taeda.ones(2, 2), taeda.ones(2, 3), 2), RuntimeError, "[2, 3]"),
        (lambda: taeda._row_distances(taeda.ones(1, 2, 2), taeda.ones(2, 2, 2), 2), RuntimeError,
            "[2, 2, 2]"),
        (lambda: taeda._row_distances(taeda.ones(2, 2), taeda.ones(2, 2).double(), 2), NotImplementedError,
            "float32 and float64"),
        (lambda: taeda._row_distances_backward(taeda.ones(2, 3), taeda.ones(2, 2), taeda.ones(2, 2), 2,
            taeda.ones(2, 2)), RuntimeError, "a number for each pair"),
        (lambda: taeda._row_distances_backward(taeda.ones(2, 2), taeda.ones(2, 2), taeda.ones(2, 2), 2,
            taeda.ones(2)), RuntimeError, "a number for each pair"),
    ],
)  # fmt: skip
def test_refusals_of_row_distances(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("odd", [9999.0, -9999.0, 6e4, 1e30, float("nan"), float("inf")])
@pytest.mark.parametrize("row", [0, 1, 13, 29])
def test_a_row_of_other_numbers_changes_no_other_distance(row, odd, dtype):
    if dtype == "float16" and odd == 1e30:
        odd = 65504.0
    x, y = taeda.randn(30, 5), taeda.randn(30, 5)
    y[row, 2] = odd
    x, y = x.to(getattr(taeda, dtype)), y.to(getattr(taeda, dtype))
    rest = [k for k in range(30) if k != row]
    for a, b, kept in ((x, y, lambda d: d[:, rest]), (y, x, lambda d: d[rest])):
        found = kept(taeda.cdist(a, b, compute_mode="use_mm_for_euclid_dist"))
        mode = "donot_use_mm_for_euclid_dist"
        wanted = kept(taeda.cdist(a.double(), b.double(), compute_mode=mode))
        digits = {"float64": 1e-6, "float32": 1e-5, "float16": 2e-3, "bfloat16": 1e-2}[dtype]
        taeda.testing.assert_close(found.double(), wanted, rtol=digits, atol=digits)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_row_with_an_infinity_is_infinitely_far(sign, dtype):
    x, y = (taeda.randn(30, 5).to(getattr(taeda, dtype)) for _ in "xy")
    x[3, 1] = sign * math.inf
    for found in (
        taeda.cdist(x, y, compute_mode="use_mm_for_euclid_dist"),
        taeda.cdist(y, x, compute_mode="use_mm_for_euclid_dist").mT,
    ):
        assert found[3].tolist() == [math.inf] * 30
        assert found.isfinite().sum() == 29 * 30
