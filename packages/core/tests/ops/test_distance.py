"""Distances between rows against scipy; renorm against its definition."""

from __future__ import annotations

import math

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
