"""Convolutions whose padding, stride and dilation go far beyond the input, and those of nothing,
against sums window by window.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from arrays import normal, values

import taeda

TOLERANCE = {"bfloat16": 6e-2, "float32": 5e-5, "float64": 1e-11}


def close(got, want, dtype):
    assert tuple(got.shape) == want.shape
    np.testing.assert_allclose(values(got), want, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def each(value):
    return (value,) * 2 if isinstance(value, int) else value


FAR = [  # lanes of a vector lie further apart than 31 bits of elements
    {"stride": (1, 2**28), "padding": (0, 2**28)},
    {"stride": 2**30, "padding": 2**30},
    {"stride": (2**30, 3), "padding": (2**30, 6)},
    {"stride": (5, 2**29), "padding": (1, 2**31 - 1)},
]


@pytest.mark.parametrize("geometry", FAR, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
def test_strides_that_lanes_count_in_64_bits(geometry, dtype):
    x, weight = normal((2, 3, 4, 4), dtype), normal((4, 3, 2, 2), dtype)
    got = taeda.conv2d(x, weight, **geometry)
    close(got.double(), by_windows(values(x.double()), values(weight.double()), **geometry), dtype)


@pytest.mark.parametrize("geometry", FAR, ids=str)
def test_gradients_of_far_strides(geometry):
    x = normal((2, 3, 4, 4), "float32").requires_grad_()
    weight = normal((4, 3, 2, 2), "float32").requires_grad_()
    wide = [t.detach().double().requires_grad_() for t in (x, weight)]
    taeda.conv2d(x, weight, **geometry).square().sum().backward()
    taeda.conv2d(*wide, **geometry).square().sum().backward()
    for t, w in zip((x, weight), wide, strict=True):
        close(t.grad, values(w.grad), "float32")


def by_windows(x, weight, stride, padding, dilation=1):
    """The sums, window by window, with Python's numbers."""
    (sh, sw), (ph, pw), (dh, dw) = (each(v) for v in (stride, padding, dilation))
    (images, _, height, width), (outputs, _, kh, kw) = x.shape, weight.shape
    rows = (height + 2 * ph - dh * (kh - 1) - 1) // sh + 1
    columns = (width + 2 * pw - dw * (kw - 1) - 1) // sw + 1
    made = np.zeros((images, outputs, rows, columns))
    for r, c, i, j in itertools.product(range(rows), range(columns), range(kh), range(kw)):
        y, z = r * sh + i * dh - ph, c * sw + j * dw - pw
        if 0 <= y < height and 0 <= z < width:
            made[:, :, r, c] += x[:, :, y, z] @ weight[:, :, i, j].T
    return made


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "geometry",
    [
        {"padding": (2**30, 2**30 - 8), "dilation": (2**31 - 1, 2**31 - 17)},  # 2**64 bytes of copy
        {"padding": (2**19, 2**20), "dilation": (2**20, 2**21)},  # terabytes
        {"padding": (2**16, 1), "dilation": (2**17, 1)},
        {"padding": (40, 40), "dilation": (80, 80)},
    ],
    ids=str,
)
def test_depthwise_planes_do_not_grow_with_dilation(geometry, dtype):
    x, weight = normal((2, 2, 4, 4), dtype), normal((2, 1, 2, 2), dtype)
    planes = [(values(x[:, c : c + 1]), values(weight[c : c + 1])) for c in range(2)]
    wanted = np.concatenate([by_windows(*both, 1, **geometry) for both in planes], 1)
    a, w = x.clone().requires_grad_(), weight.clone().requires_grad_()
    got = taeda.conv2d(a, w, groups=2, **geometry)
    close(got.detach(), wanted, dtype)
    got.sum().backward()
    parts = [t.detach().clone().requires_grad_() for t in (x[:, :1], weight[:1])]
    taeda.conv2d(*parts, **geometry).sum().backward()
    close(a.grad[:, :1], values(parts[0].grad), dtype)
    close(w.grad[:1], values(parts[1].grad), dtype)


NOTHING = [  # input, weight, padding: sums over nothing
    ((1, 1, 0, 4), (2, 1, 2, 2), 2),
    ((2, 0, 4, 4), (3, 0, 2, 2), 1),
    ((1, 0, 4, 4), (1, 0, 2**31, 2**31), 2**30),
]


@pytest.mark.parametrize(("input_shape", "weight_shape", "padding"), NOTHING, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "complex64"])
def test_sums_over_nothing_are_the_bias(input_shape, weight_shape, padding, dtype):
    kind = getattr(taeda, dtype)
    x, weight = taeda.ones(input_shape, dtype=kind), taeda.ones(weight_shape, dtype=kind)
    bias = taeda.arange(1, weight_shape[0] + 1).to(kind)
    got = taeda.conv2d(x, weight, bias, padding=padding)
    assert got.numel() > 0
    assert got.equal(bias.view(1, -1, 1, 1).expand(got.shape))
    assert taeda.conv2d(x, weight, padding=padding).count_nonzero() == 0


def test_gradients_of_sums_over_nothing():
    x, weight, bias = (
        taeda.ones(shape).requires_grad_() for shape in ((1, 2, 0, 4), (3, 2, 2, 2), (3,))
    )
    got = taeda.conv2d(x, weight, bias, padding=2)
    got.sum().backward()
    assert x.grad.shape == x.shape
    assert weight.grad.count_nonzero() == 0
    assert bias.grad.tolist() == [got.numel() / 3] * 3


def test_a_transposed_convolution_of_nothing_is_the_bias():
    bias = taeda.tensor([2.0, 3.0])
    got = taeda.conv_transpose2d(
        taeda.ones(1, 0, 3, 4), taeda.ones(0, 2, 6, 2), bias, padding=(2, 0)
    )
    assert got.equal(bias.view(1, 2, 1, 1).expand(1, 2, 4, 5))
