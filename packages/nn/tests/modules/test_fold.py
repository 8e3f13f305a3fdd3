"""Windows as columns, and back."""

from __future__ import annotations

import pytest
from layer_references import check_layer

from taeda.nn import functional as F

# layer, input shape, function of the input (None: only the text)
LAYERS = [
    ("Fold((4, 5), 2)", "output_size=(4, 5), kernel_size=2, dilation=1, padding=0, stride=1",
        (2, 12, 12), lambda x: F.fold(x, (4, 5), 2)),
    ("Unfold(2)", "kernel_size=2, dilation=1, padding=0, stride=1", (2, 4, 5), lambda x: F.unfold(x, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "shape", "function"), LAYERS, ids=[c[0] for c in LAYERS])
def test_layer(code, text, shape, function):
    check_layer(code, text, shape, function)
