"""Unpooling, and pools at random places."""

from __future__ import annotations

import pytest

import taeda
from taeda.nn import functional as F


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize("batched", [True, False])
def test_maxima_return_to_their_places(spatial, batched):
    pool = getattr(F, f"max_pool{spatial}d")
    unpool = getattr(F, f"max_unpool{spatial}d")
    x = taeda.rand(*([2] if batched else []), 3, *[6] * spatial) + 1
    values, places = pool(x, 2, return_indices=True)
    back = unpool(values, places, 2)
    assert back.shape == x.shape
    assert (back != 0).sum().item() == values.numel()
    assert taeda.equal(pool(back, 2), values)
    assert ((back == x) | (back == 0)).all()


def test_gradients_come_from_the_places():
    x = taeda.rand(1, 1, 4, requires_grad=True)
    values, places = F.max_pool1d(x, 2, return_indices=True)
    F.max_unpool1d(values, places, 2).sum().backward()
    assert sorted(x.grad.flatten().tolist()) == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("change", "options", "error", "text"),
    [
        (lambda v, i: (v, i + 64), {}, RuntimeError, r"invalid max index: \d+ .*8x8"),
        (lambda v, i: (v, i.float()), {}, RuntimeError, "int64 but got: taeda.float32"),
        (lambda v, i: (v, i[:1]), {}, RuntimeError, r"\[2, 3, 4, 4\].*\[1, 3, 4, 4\]"),
        (lambda v, i: (v[0, 0], i[0, 0]), {}, RuntimeError, "3d or 4d Tensor"),
        (
            lambda v, i: (v, i),
            {"output_size": (20, 20)},
            ValueError,
            "dim 0 must be between 6 and 10",
        ),
        (lambda v, i: (v, i), {"output_size": (8,)}, ValueError, "2 or 4 elements.*'1'"),
    ],
)
def test_refusals(change, options, error, text):
    values, places = F.max_pool2d(taeda.rand(2, 3, 8, 8), 2, return_indices=True)
    with pytest.raises(error, match=text):
        F.max_unpool2d(*change(values, places), 2, **options)


def test_fractional_samples_decide():
    x = taeda.rand(1, 1, 9, 9)
    samples = taeda.full((1, 1, 2), 0.25)
    pooled = [F.fractional_max_pool2d(x, 2, 4, _random_samples=samples) for _ in range(2)]
    assert taeda.equal(*pooled)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({}, ValueError, "either an output_size or an output_ratio"),
        ({"output_size": 9}, RuntimeError, "too large relative to input size 9"),
    ],
)
def test_fractional_refusals(options, error, text):
    with pytest.raises(error, match=text):
        F.fractional_max_pool2d(taeda.rand(1, 1, 9, 9), 2, **options)
