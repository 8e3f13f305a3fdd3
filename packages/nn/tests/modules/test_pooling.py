"""Pooling as layers."""

from __future__ import annotations

import pytest
from layer_references import check_layer

from taeda.nn import functional as F

# layer, input shape, function of the input (None: only the text)
LAYERS = [
    ("AdaptiveAvgPool1d(5)", "output_size=5", (2, 3, 9), lambda x: F.adaptive_avg_pool1d(x, 5)),
    ("AdaptiveAvgPool2d((5, None))", "output_size=(5, None)", (2, 9, 9),
        lambda x: F.adaptive_avg_pool2d(x, (5, 9))),
    ("AdaptiveMaxPool2d(3)", "output_size=3", (2, 9, 9), lambda x: F.adaptive_max_pool2d(x, 3)),
    ("AvgPool1d(3, 2)", "kernel_size=(3,), stride=(2,), padding=(0,)", (2, 9),
        lambda x: F.avg_pool1d(x, 3, 2)),
    ("AvgPool2d(3)", "kernel_size=3, stride=3, padding=0", (2, 9, 9), lambda x: F.avg_pool2d(x, 3)),
    ("AvgPool3d(2)", "kernel_size=2, stride=2, padding=0", (2, 4, 4, 4), lambda x: F.avg_pool3d(x, 2)),
    ("LPPool2d(2, 3)", "norm_type=2, kernel_size=3, stride=None, ceil_mode=False", (2, 9, 9),
        lambda x: F.lp_pool2d(x, 2, 3)),
    ("MaxPool1d(2)", "kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False", (2, 9),
        lambda x: F.max_pool1d(x, 2)),
    ("MaxPool2d(2, 1, 1)", "kernel_size=2, stride=1, padding=1, dilation=1, ceil_mode=False",
        (2, 9, 9), lambda x: F.max_pool2d(x, 2, 1, 1)),
    ("MaxPool3d(2)", "kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False",
        (2, 4, 4, 4), lambda x: F.max_pool3d(x, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "shape", "function"), LAYERS, ids=[c[0] for c in LAYERS])
def test_layer(code, text, shape, function):
    check_layer(code, text, shape, function)
