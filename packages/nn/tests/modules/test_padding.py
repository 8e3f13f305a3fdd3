"""Padding as layers."""

from __future__ import annotations

import pytest
from layer_references import check_layer

from taeda.nn import functional as F

# layer, input shape, function of the input (None: only the text)
LAYERS = [
    ("CircularPad1d(2)", "(2, 2)", (1, 3, 4), lambda x: F.pad(x, (2, 2), "circular")),
    ("ConstantPad1d(2, 3.5)", "padding=(2, 2), value=3.5", (1, 3, 4),
        lambda x: F.pad(x, (2, 2), "constant", 3.5)),
    ("ReflectionPad2d(1)", "(1, 1, 1, 1)", (1, 3, 4), lambda x: F.pad(x, (1, 1, 1, 1), "reflect")),
    ("ReplicationPad3d(1)", "(1, 1, 1, 1, 1, 1)", (1, 2, 3, 4), lambda x: F.pad(x, (1,) * 6, "replicate")),
    ("ZeroPad2d((1, 0, 2, 0))", "(1, 0, 2, 0)", (1, 3, 4), lambda x: F.pad(x, (1, 0, 2, 0))),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "shape", "function"), LAYERS, ids=[c[0] for c in LAYERS])
def test_layer(code, text, shape, function):
    check_layer(code, text, shape, function)
