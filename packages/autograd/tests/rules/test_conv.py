"""First and second derivatives of convolutions."""

from __future__ import annotations

import numpy as np
import pytest
from differences import check, draw

import taeda

CONVOLUTIONS = {
    "conv1d": (lambda x, w, b: taeda.conv1d(x, w, b, stride=2, padding=1), (2, 2, 6), (3, 2, 3), (3,)),
    "conv1d without a batch": (taeda.conv1d, (2, 5), (3, 2, 2)),
    "conv1d same": (lambda x, w: taeda.conv1d(x, w, padding="same"), (1, 2, 5), (2, 2, 2)),
    "conv2d": (lambda x, w, b: taeda.conv2d(x, w, b, padding=1), (1, 2, 4, 3), (2, 2, 3, 3), (2,)),
    "conv2d "
    "strided": (lambda x, w: taeda.conv2d(x, w, stride=(2, 1), padding=(0, 1)), (1, 2, 5, 4), (2, 2, 2, 3)),
    "conv2d dilated": (lambda x, w: taeda.conv2d(x, w, dilation=2), (1, 2, 5, 5), (1, 2, 2, 2)),
    "conv2d in groups": (lambda x, w: taeda.conv2d(x, w, groups=2), (1, 4, 3, 3), (4, 2, 2, 2)),
    "conv2d of channels": (lambda x, w: taeda.conv2d(x, w, groups=3, padding=1), (1, 3, 3, 3), (3, 1, 3, 3)),
    "conv2d of points": (taeda.conv2d, (2, 3, 2, 2), (2, 3, 1, 1)),
    "conv2d of a transpose": (lambda x, w: taeda.conv2d(x.mT, w.mT), (1, 2, 4, 3), (2, 2, 2, 2)),
    "conv3d": (lambda x, w: taeda.conv3d(x, w, padding=(1, 0, 0)), (1, 1, 2, 3, 3), (2, 1, 2, 2, 2)),
    "conv_transpose1d": (lambda x, w, b: taeda.conv_transpose1d(x, w, b, stride=2,
        output_padding=1), (1, 2, 3), (2, 2, 3), (2,)),
    "conv_transpose2d": (lambda x, w: taeda.conv_transpose2d(x, w, padding=1, groups=2),
        (1, 2, 3, 3), (2, 1, 3, 3)),
    "conv_transpose3d": (taeda.conv_transpose3d, (1, 1, 2, 2, 2), (1, 1, 2, 2, 2)),
    "an empty batch": (taeda.conv2d, (0, 2, 3, 3), (1, 2, 2, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name):
    function, *shapes = CONVOLUTIONS[name]
    check(function, *shapes)


def test_convolution_of_complex_numbers():
    check(taeda.conv1d, (1, 2, 4), (2, 2, 2), dtype=taeda.complex128)


@pytest.mark.parametrize(
    "size", [(2, 16, 8, 8, 16, 3), (1, 8, 9, 11, 4, 5), (2, 3, 12, 12, 8, 7)], ids=str
)
def test_fast_kernels_agree_with_double_precision(size):
    """float32 has kernels of its own; the same sums in float64 go another way."""
    n, c, h, w, o, k = size
    x, weight = draw(n, c, h, w).detach(), draw(o, c, k, k, seed=1).detach()
    made = []
    for dtype in (taeda.float32, taeda.float64):
        leaves = [t.to(dtype).requires_grad_() for t in (x, weight)]
        y = taeda.conv2d(*leaves, padding=k // 2)
        y.backward(taeda.ones_like(y))
        made.append((y, leaves[0].grad, leaves[1].grad))
    for fast, exact in zip(*made, strict=True):
        np.testing.assert_allclose(fast.tolist(), exact.tolist(), rtol=1e-4, atol=1e-3)
