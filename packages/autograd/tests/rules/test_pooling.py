"""First and second derivatives of pooling, padding, resampling and windows."""

from __future__ import annotations

import pytest
from derivative_inputs import both_orders, distinct

import taeda
from taeda._C import _nn

IMAGES = {
    "max_pool1d": ((2, 7), lambda x: taeda.max_pool1d(x, 3, 2, 1)),
    "max_pool2d": ((1, 5, 6), lambda x: taeda.max_pool2d(x, (2, 3), 1, (1, 0))),
    "max_pool2d, halves": ((1, 2, 5, 6), lambda x: taeda.max_pool2d(x, 2)),
    "max_pool3d": ((1, 3, 4, 4), lambda x: taeda.max_pool3d(x, 2, 2, 1, 1, True)),
    "max_pool2d with places": ((1, 5, 6), lambda x: _nn.max_pool2d_with_indices(x, 2)[0]),
    "avg_pool1d": ((2, 7), lambda x: taeda.avg_pool1d(x, 3, 2, 1, True, False)),
    "avg_pool2d": ((1, 5, 6), lambda x: _nn.avg_pool2d(x, (2, 3), 1, (1, 0), True, False, 5)),
    "avg_pool3d": ((1, 3, 4, 4), lambda x: _nn.avg_pool3d(x, 2, 1, 1)),
    "adaptive_avg_pool1d": ((2, 7), lambda x: taeda.adaptive_avg_pool1d(x, 3)),
    "adaptive_avg_pool2d": ((1, 5, 6), lambda x: _nn.adaptive_avg_pool2d(x, (3, 4))),
    "adaptive_max_pool2d": ((1, 5, 6), lambda x: _nn.adaptive_max_pool2d(x, (3, 4))[0]),
    "constant_pad_nd": ((2, 3, 4), lambda x: taeda.constant_pad_nd(x, (1, -1, 2, 0), 3)),
    "reflection_pad2d": ((1, 3, 4), lambda x: _nn.reflection_pad2d(x, (1, 2, 2, 0))),
    "replication_pad1d": ((2, 4), lambda x: _nn.replication_pad1d(x, (2, 1))),
    "circular pad": ((2, 4), lambda x: _nn.pad(x, (2, 1), "circular")),
    "linear1d": ((1, 2, 5), lambda x: _nn.upsample_linear1d(x, (7,), False)),
    "bilinear2d": ((1, 1, 3, 4), lambda x: _nn.upsample_bilinear2d(x, (5, 3), True)),
    "trilinear3d": ((1, 1, 2, 3, 2), lambda x: _nn.upsample_trilinear3d(x, (3, 2, 4), False)),
    "bicubic2d": ((1, 1, 4, 4), lambda x: _nn.upsample_bicubic2d(x, (6, 3), False, 1.5, 0.75)),
    "bilinear2d, antialiased": (
        (1, 1, 6, 5),
        lambda x: _nn._upsample_bilinear2d_aa(x, (3, 4), False),
    ),
    "nearest2d": ((1, 1, 3, 4), lambda x: _nn.upsample_nearest2d(x, (5, 8))),
    "nearest_exact3d": ((1, 1, 2, 3, 2), lambda x: _nn._upsample_nearest_exact3d(x, (3, 2, 4))),
    "im2col": ((1, 4, 5), lambda x: _nn.im2col(x, (2, 3), (1, 1), (1, 0), (2, 1))),
    "col2im": ((4, 9), lambda x: _nn.col2im(x, (4, 4), 2, 1, 0, 1)),
    "pixel_shuffle": ((4, 2, 3), lambda x: taeda.pixel_shuffle(x, 2)),
}


@pytest.mark.parametrize("name", IMAGES)
def test_of_images(name):
    shape, function = IMAGES[name]
    both_orders(function, distinct(*shape))
