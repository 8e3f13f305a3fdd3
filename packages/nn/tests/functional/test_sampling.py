"""grid_sample and affine_grid."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import taeda
from taeda._core_api.table import PADDINGS, SAMPLE_MODES, grid_sample_by_steps
from taeda.nn import functional as F


def inside(i, size, padding, align):
    """The place that stands for i, or None for zeros."""
    if padding == "zeros":
        return i
    if padding == "reflection":
        low, high = (0.0, size - 1.0) if align else (-0.5, size - 0.5)
        span = high - low
        if span == 0:
            return 0.0
        turns, rest = divmod(abs(i - low), span)
        i = low + rest if turns % 2 == 0 else high - rest
    return min(max(i, 0.0), size - 1.0)


def sample(image, x, y, padding, align):
    """Bilinear, one point of one channel."""
    height, width = image.shape

    def pixel(v, size):
        return (v + 1) / 2 * (size - 1) if align else ((v + 1) * size - 1) / 2

    x = inside(pixel(x, width), width, padding, align)
    y = inside(pixel(y, height), height, padding, align)
    total = 0.0
    for i, j in itertools.product(
        (math.floor(y), math.floor(y) + 1), (math.floor(x), math.floor(x) + 1)
    ):
        if 0 <= i < height and 0 <= j < width:
            total += image[i, j] * (1 - abs(y - i)) * (1 - abs(x - j))
    return total


@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_bilinear_samples(padding, align):
    rng = np.random.default_rng(0)
    image = rng.normal(size=(1, 2, 4, 5)).astype("float32")
    grid = rng.uniform(-2, 2, size=(1, 3, 6, 2)).astype("float32")
    result = F.grid_sample(
        taeda.from_numpy(image), taeda.from_numpy(grid), padding_mode=padding, align_corners=align
    )
    expected = [
        [[sample(image[0, c], *grid[0, i, j], padding, align) for j in range(6)] for i in range(3)]
        for c in range(2)
    ]
    np.testing.assert_allclose(result.numpy()[0], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("align", [True, False])
def test_the_identity_map_gives_the_image(mode, align):
    image = taeda.randn(2, 3, 4, 5)
    theta = taeda.tensor([[1.0, 0, 0], [0, 1, 0]]).expand(2, 2, 3)
    grid = F.affine_grid(theta, image.shape, align_corners=align)
    assert grid.shape == (2, 4, 5, 2)
    assert taeda.allclose(
        F.grid_sample(image, grid, mode=mode, align_corners=align), image, atol=1e-5
    )


def test_volumes():
    image = taeda.randn(1, 2, 3, 4, 5)
    theta = taeda.eye(3, 4).unsqueeze(0)
    grid = F.affine_grid(theta, image.shape, align_corners=True)
    for mode in ("bilinear", "nearest"):
        assert taeda.allclose(
            F.grid_sample(image, grid, mode=mode, align_corners=True), image, atol=1e-5
        )


def test_gradients_of_image_and_grid():
    image = taeda.rand(1, 1, 4, 4, dtype=taeda.float64, requires_grad=True)
    grid = (taeda.rand(1, 2, 2, 2, dtype=taeda.float64) * 1.2 - 0.6).requires_grad_()
    for mode in ("bilinear", "bicubic"):
        assert taeda.autograd.gradcheck(
            lambda i, g, mode=mode: F.grid_sample(i, g, mode=mode, align_corners=False),
            (image, grid),
            check_forward_ad=True,
        )
        assert taeda.autograd.gradgradcheck(
            lambda i, g, mode=mode: F.grid_sample(i, g, mode=mode, align_corners=False),
            (image, grid),
        )


def test_the_default_warns():
    with pytest.warns(UserWarning, match="align_corners=False"):
        F.affine_grid(taeda.zeros(1, 2, 3), (1, 1, 2, 2))


IMAGE = taeda.zeros(2, 3, 4, 4)
GRID = taeda.zeros(2, 4, 4, 2)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: F.grid_sample(IMAGE, GRID, "linear", align_corners=True),
            ValueError,
            "got: 'linear'",
        ),
        (
            lambda: F.grid_sample(IMAGE, GRID, padding_mode="x", align_corners=True),
            ValueError,
            "'x'",
        ),
        (
            lambda: F.grid_sample(IMAGE, GRID[:1], align_corners=True),
            RuntimeError,
            "same batch size",
        ),
        (
            lambda: F.grid_sample(IMAGE, GRID[..., :1], align_corners=True),
            RuntimeError,
            "size 2 in last",
        ),
        (
            lambda: F.grid_sample(IMAGE[0], GRID, align_corners=True),
            RuntimeError,
            "same number of dim",
        ),
        (
            lambda: F.grid_sample(IMAGE, GRID.double(), align_corners=True),
            RuntimeError,
            "same dtype",
        ),
        (
            lambda: F.affine_grid(taeda.zeros(2, 2, 3), (2, 1, 4), True),
            NotImplementedError,
            r"\(2, 1, 4\)",
        ),
        (lambda: F.affine_grid(taeda.zeros(2, 3), (2, 1, 4, 4), True), ValueError, "Nx2x3"),
        (
            lambda: F.affine_grid(taeda.zeros(2, 2, 3), (2, 1, 0, 4), True),
            ValueError,
            "positive output",
        ),
        (
            lambda: F.affine_grid(taeda.zeros(2, 2, 3).long(), (2, 1, 4, 4), True),
            ValueError,
            "int64",
        ),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_the_derivative_of_nearest_by_the_grid_is_zero_and_differentiable():
    x = taeda.rand(1, 2, 3, 3, requires_grad=True)
    grid = (taeda.rand(1, 2, 2, 2) * 2 - 1).requires_grad_()
    weights = taeda.ones(1, 2, 2, 2, requires_grad=True)
    total = (F.grid_sample(x, grid, mode="nearest", align_corners=False) * weights).sum()
    by_x, by_grid = taeda.autograd.grad(total, (x, grid), create_graph=True)
    assert by_grid.requires_grad
    assert by_grid.abs().sum() == 0
    assert by_x.sum() == 8


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_many_channels_are_sampled_one_tap_at_a_time_with_the_same_result(mode):
    generator = taeda.Generator().manual_seed(3)
    image = taeda.randn(1, 8, 9, 7, generator=generator, dtype=taeda.float64)
    grid = taeda.rand(1, 20, 20, 2, generator=generator, dtype=taeda.float64) * 2.4 - 1.2

    def sampled(x):
        return F.grid_sample(x, grid, mode, align_corners=False)

    few = taeda.cat([sampled(image[:, i : i + 2]) for i in range(0, 8, 2)], 1)
    assert taeda.allclose(sampled(image), few, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64])
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(
    ("mode", "size", "places"),
    [
        ("bilinear", (2, 3, 6, 5), (2, 9, 11, 2)),  # more places than a block of the kernel
        ("nearest", (2, 3, 6, 5), (2, 9, 11, 2)),
        ("bicubic", (2, 3, 6, 5), (2, 9, 11, 2)),
        ("bilinear", (2, 2, 3, 1, 4), (2, 3, 5, 2, 3)),
        ("nearest", (2, 2, 3, 1, 4), (2, 3, 5, 2, 3)),
    ],
)
def test_one_call_and_the_steps_agree(mode, size, places, padding, align, dtype):
    x = taeda.randn(size, generator=taeda.Generator().manual_seed(3), dtype=dtype)
    grid = taeda.randn(places, generator=taeda.Generator().manual_seed(4), dtype=dtype)
    x[0, 0].fill_(math.inf)  # what lies outside counts as 0, whatever stands at the border
    x[0, 0, 1:].fill_(1.0)
    at_once = F.grid_sample(x, grid, mode, padding, align)
    code, outside = SAMPLE_MODES.index(mode), PADDINGS.index(padding)
    by_steps = grid_sample_by_steps(x.clone().requires_grad_(), grid, code, outside, align)
    tolerance = 1e-4 if dtype is taeda.float32 else 1e-12
    assert taeda.allclose(
        at_once, by_steps.detach(), rtol=tolerance, atol=tolerance, equal_nan=True
    )


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("wants_gradient", [False, True])
def test_infinity_is_not_read_from_outside(mode, wants_gradient):
    x = taeda.ones(1, 1, 4, 4)
    x[0, 0, 0, 0] = math.inf
    grid = taeda.full((1, 1, 1, 2), 3.0)
    assert (
        F.grid_sample(x.requires_grad_(wants_gradient), grid, mode, align_corners=False).item() == 0
    )
