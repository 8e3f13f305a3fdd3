"""Unpooling, and pools at random places, as layers."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn import functional as F


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.FractionalMaxPool2d(2), ValueError, "requires specifying either"),
        (
            lambda: nn.FractionalMaxPool2d(2, 3, 0.5),
            ValueError,
            "only one of output_size and output_ratio",
        ),
        (lambda: nn.FractionalMaxPool2d(2, output_ratio=1.5), ValueError, "between 0 and 1"),
    ],
)
def test_refused_options(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_output_size_chooses():
    x = taeda.rand(1, 1, 5, 7)
    values, places = F.max_pool2d(x, 2, return_indices=True)
    layer = nn.MaxUnpool2d(2)
    assert layer(values, places, output_size=(5, 7)).shape == (1, 1, 5, 7)
    assert layer(values, places, output_size=x.shape).shape == x.shape


@pytest.mark.parametrize(
    ("spatial", "kind"), [(2, nn.FractionalMaxPool2d), (3, nn.FractionalMaxPool3d)]
)
def test_fractional_windows_cover_the_input(spatial, kind):
    x = taeda.rand(2, 3, *[9] * spatial)
    layer = kind(2, output_size=5, return_indices=True)
    values, places = layer(x)
    assert values.shape == (2, 3, *[5] * spatial)
    assert taeda.equal(x.flatten(2).gather(2, places.flatten(2)), values.flatten(2))
    assert kind(2, output_ratio=0.5)(x[0]).shape == (3, *[4] * spatial)
