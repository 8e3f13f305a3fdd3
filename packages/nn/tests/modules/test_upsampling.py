"""Upsampling as layers."""

from __future__ import annotations

import pytest
from layer_references import check_layer

from taeda.nn import functional as F

# layer, input shape, function of the input (None: only the text)
LAYERS = [
    ("Upsample(scale_factor=2)", "scale_factor=2.0, mode='nearest'", (1, 2, 3, 3),
        lambda x: F.interpolate(x, scale_factor=2)),
    ("UpsamplingBilinear2d(5)", "size=5, mode='bilinear'", (1, 2, 3, 3),
        lambda x: F.interpolate(x, 5, mode="bilinear", align_corners=True)),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "shape", "function"), LAYERS, ids=[c[0] for c in LAYERS])
def test_layer(code, text, shape, function):
    check_layer(code, text, shape, function)
