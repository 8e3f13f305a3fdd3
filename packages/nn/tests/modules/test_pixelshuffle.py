"""Pixels into channels and back."""

from __future__ import annotations

import pytest
from layer_references import check_layer

from taeda.nn import functional as F

# layer, input shape, function of the input (None: only the text)
LAYERS = [
    ("ChannelShuffle(3)", "groups=3", (1, 6, 2, 2), lambda x: F.channel_shuffle(x, 3)),
    ("PixelShuffle(2)", "upscale_factor=2", (4, 3, 3), lambda x: F.pixel_shuffle(x, 2)),
    ("PixelUnshuffle(2)", "downscale_factor=2", (4, 4, 4), lambda x: F.pixel_unshuffle(x, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "shape", "function"), LAYERS, ids=[c[0] for c in LAYERS])
def test_layer(code, text, shape, function):
    check_layer(code, text, shape, function)
