"""Convolutions by definition; windows as columns, and their sum back."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import taeda
from taeda.autograd import gradcheck
from taeda.nn import functional as F


def columns(x, kernel, dilation, padding, stride):
    """The windows of (C, H, W) as (C · kernel elements, windows)."""
    x = np.pad(x, ((0, 0), (padding, padding), (padding, padding)))
    reach = [dilation * (k - 1) + 1 for k in kernel]
    rows = range(0, x.shape[1] - reach[0] + 1, stride)
    starts = itertools.product(rows, range(0, x.shape[2] - reach[1] + 1, stride))
    cut = [
        x[:, i : i + reach[0] : dilation, j : j + reach[1] : dilation].ravel() for i, j in starts
    ]
    return np.stack(cut, -1)


@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize(("dilation", "stride"), [(1, 1), (2, 1), (1, 2)])
def test_windows_are_columns_and_are_summed_back(dilation, stride, padding):
    x = taeda.randn(2, 3, 6, 7, dtype=taeda.float64)
    made = F.unfold(x, (2, 3), dilation, padding, stride)
    for sample, image in zip(made, x, strict=True):
        wanted = columns(image.numpy(), (2, 3), dilation, padding, stride)
        np.testing.assert_array_equal(sample.numpy(), wanted)
        assert taeda.equal(F.unfold(image, (2, 3), dilation, padding, stride), sample)
    # the sum back is the transpose: <unfold(x), y> = <x, fold(y)>
    other = taeda.randn_like(made)
    back = F.fold(other, (6, 7), (2, 3), dilation, padding, stride)
    assert back.shape == x.shape
    assert (made * other).sum().item() == pytest.approx((x * back).sum().item())


def test_gradients():
    x = taeda.randn(1, 2, 3, 4, dtype=taeda.float64, requires_grad=True)
    assert gradcheck(lambda x: F.fold(F.unfold(x, 2) ** 2, (3, 4), 2), (x,))


@pytest.mark.parametrize("transposed", [False, True])
def test_a_product_of_columns_is_a_convolution(transposed):
    x, w = taeda.randn(2, 3, 5, 5), taeda.randn(4, 3, 2, 2)
    if transposed:
        x = x.transpose(2, 3)
    wanted = np.einsum("ok,nkl->nol", w.reshape(4, -1).numpy(), F.unfold(x, 2).numpy())
    made = F.conv2d(x, w).reshape(2, 4, -1)
    np.testing.assert_allclose(made.numpy(), wanted, rtol=1e-4, atol=1e-5)
    y = taeda.randn(2, 4, 4, 4)
    spread = taeda.einsum("ok,nol->nkl", w.reshape(4, -1), y.flatten(2))
    assert taeda.allclose(F.conv_transpose2d(y, w), F.fold(spread, 5, 2), atol=1e-5)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: F.unfold(taeda.ones(1, 2, 3, 3), 4), "4"),
        (lambda: F.unfold(taeda.ones(3), 1), r"input of size \[3\]"),
        (lambda: F.fold(taeda.ones(1, 5, 4), (3, 3), 2), "5"),
        (lambda: F.fold(taeda.ones(1, 4, 5), (3, 3), 2), "5"),
        (lambda: F.unfold(taeda.ones(1, 2, 3, 3), 2, stride=0), "stride"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


@pytest.mark.parametrize("pad", [0, 2])
def test_a_convolution_along_time_is_a_sum_over_steps(pad):
    taeda.manual_seed(0)
    x, bias = taeda.randn(6, 2, 3, dtype=taeda.float64), taeda.randn(4, dtype=taeda.float64)
    weight = taeda.randn(3, 3, 4, dtype=taeda.float64)
    padded = F.pad(x, (0, 0, 0, 0, pad, pad))
    wanted = taeda.stack(
        [
            sum(padded[t + k] @ weight[k] for k in range(3)) + bias
            for t in range(padded.shape[0] - 2)
        ]
    )
    taeda.testing.assert_close(F.conv_tbc(x, weight, bias, pad), wanted)
    given = [t.requires_grad_() for t in (x, weight, bias)]
    assert taeda.autograd.gradcheck(lambda *a: F.conv_tbc(*a, pad), given)
