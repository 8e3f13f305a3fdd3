"""Sizes, scales and refusals of interpolate."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda.nn import functional as F


def test_nearest():
    x = taeda.arange(4.0).reshape(1, 1, 4)
    assert F.interpolate(x, 8).flatten().tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert F.interpolate(x, 3).flatten().tolist() == [0, 1, 2]
    assert F.interpolate(x, 3, mode="nearest-exact").flatten().tolist() == [0, 2, 3]


@pytest.mark.parametrize("align", [True, False])
def test_linear(align):
    x = taeda.tensor([[[1.0, 5.0, 2.0]]])
    result = F.interpolate(x, 5, mode="linear", align_corners=align).flatten().tolist()
    places = np.linspace(0, 2, 5) if align else np.clip((np.arange(5) + 0.5) * 0.6 - 0.5, 0, 2)
    np.testing.assert_allclose(result, np.interp(places, [0, 1, 2], [1, 5, 2]), rtol=1e-5)


@pytest.mark.parametrize(
    ("mode", "rank"),
    [("bilinear", 4), ("bicubic", 4), ("trilinear", 5), ("area", 4), ("linear", 3)],
)
def test_a_constant_stays_constant(mode, rank):
    x = taeda.full((1, 2, *[5] * (rank - 2)), 3.0)
    result = F.interpolate(x, scale_factor=1.7, mode=mode)
    assert result.shape == (1, 2, *[8] * (rank - 2))
    assert taeda.allclose(result, taeda.full_like(result, 3.0), atol=1e-5)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
def test_antialiasing_averages_when_shrinking(mode):
    x = taeda.tensor([0.0, 1.0]).repeat(1, 1, 16, 8)
    result = F.interpolate(x, (4, 4), mode=mode, antialias=True)
    assert (result - 0.5).abs().max().item() < 0.1


def test_scale_factors_are_kept_or_recomputed():
    x = taeda.arange(5.0).reshape(1, 1, 5)
    kept = F.interpolate(x, scale_factor=1.5, mode="linear")
    again = F.interpolate(x, scale_factor=1.5, mode="linear", recompute_scale_factor=True)
    assert kept.shape == again.shape == (1, 1, 7)
    assert not taeda.allclose(kept, again)
    assert taeda.allclose(again, F.interpolate(x, 7, mode="linear"))


def test_former_names():
    x = taeda.rand(1, 1, 3, 3)
    with pytest.warns(UserWarning, match=r"nn\.functional\.upsample`"):
        assert F.upsample(x, 6).shape == (1, 1, 6, 6)
    with pytest.warns(UserWarning, match="upsample_bilinear"):
        assert F.upsample_bilinear(x, scale_factor=2).shape == (1, 1, 6, 6)
    with pytest.warns(UserWarning, match="upsample_nearest"):
        assert F.upsample_nearest(x, 6).shape == (1, 1, 6, 6)


X = taeda.zeros(2, 3, 8, 8)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({}, ValueError, "either size or scale_factor"),
        ({"size": 4, "scale_factor": 2}, ValueError, "only one of size or scale_factor"),
        ({"size": 4, "mode": "spline"}, NotImplementedError, r"got 4D.*got spline"),
        ({"size": 4, "align_corners": True}, ValueError, "align_corners option"),
        ({"size": (4, 4, 4)}, ValueError, r"\[8, 8\] and output size of \(4, 4, 4\)"),
        ({"scale_factor": (2, 2, 2)}, ValueError, r"scale_factor of \(2, 2, 2\)"),
        (
            {"size": 4, "mode": "linear"},
            NotImplementedError,
            "Got 4D input, but linear mode needs 3D",
        ),
        ({"size": 4, "antialias": True}, ValueError, "Anti-alias option"),
        ({"size": 4, "mode": "lanczos"}, ValueError, "requires antialias=True"),
        ({"size": 0}, RuntimeError, r"got input \[8, 8\] output \[0, 0\]"),
        ({"size": 4.5}, TypeError, "integers"),
        ({"size": 4, "recompute_scale_factor": True}, ValueError, "explicit size"),
    ],
)
def test_refusals(options, error, text):
    with pytest.raises(error, match=text):
        F.interpolate(X, **options)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("antialias", [False, True])
def test_images_of_bytes(mode, antialias):
    x = taeda.tensor(np.random.default_rng(0).integers(0, 256, (1, 2, 9, 7), dtype=np.uint8))
    options = {"mode": mode, "antialias": antialias}
    found = F.interpolate(x, (5, 11), **options)
    assert found.dtype is taeda.uint8
    across = F.interpolate(x.float(), (9, 11), **options).add(0.5).floor().clamp(0, 255)
    expected = F.interpolate(across, (5, 11), **options).add(0.5).floor().clamp(0, 255)
    assert taeda.equal(found.float(), expected)
    assert F.interpolate(x.to("meta"), (5, 11), **options).dtype is taeda.uint8


def test_bytes_of_a_line_are_refused():
    with pytest.raises(NotImplementedError, match="not implemented for 'Byte'"):
        F.interpolate(taeda.ones(1, 1, 4, dtype=taeda.uint8), 2, mode="linear")


@pytest.mark.parametrize("scale", [5e-324, 1e-45, 1e-20, 1e-9, 1e300, float("inf"), float("nan")])
@pytest.mark.parametrize(
    "name",
    [
        *("upsample_bilinear2d", "upsample_bicubic2d", "_upsample_bilinear2d_aa"),
        *("_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa", "upsample_nearest2d"),
        "_upsample_nearest_exact2d",
    ],
)
def test_scales_without_sense_end(name, scale):
    x = taeda.arange(42.0).reshape(1, 2, 7, 3).requires_grad_()
    corners = () if "nearest" in name else (False,)
    made = getattr(taeda.ops.aten, name)(x, [5, 4], *corners, scale, None)
    assert made.shape == (1, 2, 5, 4)
    made.sum().backward()
    assert x.grad.shape == x.shape
