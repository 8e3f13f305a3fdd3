"""Pooling by a loop over windows; its gradients, indices and refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import taeda
from taeda.autograd import gradcheck
from taeda.nn import functional as F


def windows(size, kernel, stride):
    return [(start, start + kernel) for start in range(0, size - kernel + 1, stride)]


def adapted(size, count):
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def pooled(x, cuts, reduce):
    """`reduce` of every window of the last dimensions; `cuts` lists the ranges along each of them."""
    shape = [len(c) for c in cuts]
    made = np.zeros((*x.shape[: x.ndim - len(cuts)], *shape))
    for place in itertools.product(*map(range, shape)):
        index = tuple(slice(*cut[i]) for cut, i in zip(cuts, place, strict=True))
        window = x[(..., *index)]
        made[(..., *place)] = reduce(window.reshape(*x.shape[: x.ndim - len(cuts)], -1))
    return made


def largest(window):
    return window.max(-1)


def average(window):
    return window.mean(-1)


def power(window):
    return (window**4).sum(-1) ** (1 / 4)


def image(spatial, size=7):
    taeda.manual_seed(spatial)
    return taeda.randn(2, 3, *[size - i for i in range(spatial)], dtype=taeda.float64)


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize(
    ("name", "reduce", "options"),
    [("max_pool", largest, ()), ("avg_pool", average, ()), ("lp_pool", power, (4,))],
)
def test_windows(spatial, name, reduce, options):
    x = image(spatial)
    run = getattr(F, f"{name}{spatial}d")
    for kernel, stride in ((2, None), (3, 2)):
        cuts = [windows(size, kernel, stride or kernel) for size in x.shape[2:]]
        made = run(x, *options, kernel, stride)
        np.testing.assert_allclose(
            made.numpy(), pooled(x.numpy(), cuts, reduce), rtol=1e-9, atol=1e-12
        )
        assert taeda.allclose(run(x[0], *options, kernel, stride), made[0])
        turned = x.transpose(-1, 1).contiguous().transpose(-1, 1)
        assert taeda.allclose(run(turned, *options, kernel, stride), made)


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize(("name", "reduce"), [("max", largest), ("avg", average)])
def test_windows_of_an_output_size(spatial, name, reduce):
    x = image(spatial)
    run = getattr(F, f"adaptive_{name}_pool{spatial}d")
    cuts = [adapted(size, 3) for size in x.shape[2:]]
    np.testing.assert_allclose(
        run(x, 3).numpy(), pooled(x.numpy(), cuts, reduce), rtol=1e-9, atol=1e-12
    )
    if spatial > 1:
        kept = run(x, (3, *[None] * (spatial - 1)))
        cuts = [cuts[0], *([(i, i + 1) for i in range(size)] for size in x.shape[3:])]
        np.testing.assert_allclose(
            kept.numpy(), pooled(x.numpy(), cuts, reduce), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize("adaptive", [False, True])
def test_indices_are_the_places_of_the_maxima(spatial, adaptive):
    x = image(spatial)
    name = f"{'adaptive_' * adaptive}max_pool{spatial}d"
    values, places = getattr(F, name)(x, 2, return_indices=True)
    assert places.dtype is taeda.int64
    assert taeda.equal(x.flatten(2).gather(2, places.flatten(2)), values.flatten(2))
    again = getattr(F, f"{name}_with_indices")(x, 2)
    assert taeda.equal(again[0], values) and taeda.equal(again[1], places)


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize("name", ["max_pool", "avg_pool", "adaptive_max_pool", "adaptive_avg_pool"])
def test_gradients(spatial, name):
    x = image(spatial, 5)[:1, :1].requires_grad_()
    assert gradcheck(lambda x: getattr(F, f"{name}{spatial}d")(x, 2), (x,))


def test_the_last_window_may_be_incomplete():
    x = taeda.arange(5.0).reshape(1, 5)
    assert F.max_pool1d(x, 2, ceil_mode=True).tolist() == [[1, 3, 4]]
    assert F.avg_pool1d(x, 2, ceil_mode=True).tolist() == [[0.5, 2.5, 4]]
    assert F.max_pool1d(x, 2, padding=1, dilation=2).tolist() == [[1, 3, 3]]


def test_nan_is_the_maximum():
    x = taeda.tensor([[1.0, float("nan"), 2.0, 3.0]])
    made = F.max_pool1d(x, 2)
    assert made[0, 0].isnan() and made[0, 1] == 3


@pytest.mark.parametrize("pool", [F.lp_pool1d, F.lp_pool2d, F.lp_pool3d])
def test_the_power_zero_is_refused(pool):
    with pytest.raises(ValueError, match=r"norm_type .* cannot be 0"):
        pool(taeda.ones(1, 4, 4, 4, 4)[(0,) * (3 - int(pool.__name__[-2]))], 0, 2)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: F.max_pool2d(taeda.ones(1, 1, 3, 3), 4), "4|size"),
        (lambda: F.max_pool2d(taeda.ones(1, 1, 3, 3), 2, padding=2), "pad"),
        (lambda: F.avg_pool2d(taeda.ones(3), 2), "3D|4D"),
        (lambda: F.max_pool1d(taeda.ones(1, 4), 2, 0), "stride"),
        (lambda: F.adaptive_avg_pool2d(taeda.ones(1, 3, 3), (1, 2, 3)), "output_size must be 2, but got"),
        (lambda: F.adaptive_max_pool3d(taeda.ones(1, 3, 3, 3), None), "output_size must be 3, but got None"),
    ],
)  # fmt: skip
def test_sizes_that_do_not_fit_are_refused(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()
