"""Axes into one, and one into several."""

from __future__ import annotations

import pytest
from layer_references import check_layer

from taeda import nn

# layer, input shape, function of the input (None: only the text)
LAYERS = [
    ("Flatten()", "start_dim=1, end_dim=-1", (2, 3, 4), lambda x: x.reshape(2, 12)),
    (
        "Unflatten(1, (2, 3))",
        "dim=1, unflattened_size=(2, 3)",
        (4, 6),
        lambda x: x.reshape(4, 2, 3),
    ),
]


@pytest.mark.parametrize(("code", "text", "shape", "function"), LAYERS, ids=[c[0] for c in LAYERS])
def test_layer(code, text, shape, function):
    check_layer(code, text, shape, function)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.Unflatten(1, 3), TypeError, "tuple of ints, but found type int"),
        (lambda: nn.Unflatten(1, (2, "a")), TypeError, "type str at pos 1"),
        (lambda: nn.Unflatten(1.5, (2,)), TypeError, "dim parameter: float"),
    ],
)
def test_refused_options(call, error, text):
    with pytest.raises(error, match=text):
        call()
