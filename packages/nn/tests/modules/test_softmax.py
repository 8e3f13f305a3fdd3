"""Softmax and its relatives as layers."""

from __future__ import annotations

import pytest
from layer_references import check_layer

import taeda
from taeda import nn

# layer, input shape, function of the input (None: only the text)
LAYERS = [
    ("GLU()", "dim=-1", (3, 4), lambda x: x[:, :2] * x[:, 2:].sigmoid()),
    ("LogSoftmax(1)", "dim=1", (3, 4), lambda x: x.log_softmax(1)),
    ("Softmax(0)", "dim=0", (3, 4), lambda x: x.softmax(0)),
    ("Softmax2d()", "", (3, 4, 5), lambda x: x.softmax(0)),
    ("Softmin(1)", "dim=1", (3, 4), lambda x: (-x).softmax(1)),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "shape", "function"), LAYERS, ids=[c[0] for c in LAYERS])
def test_layer(code, text, shape, function):
    check_layer(code, text, shape, function)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.Softmax2d()(taeda.ones(3)), ValueError, "got 1D"),
    ],
)
def test_refused_options(call, error, text):
    with pytest.raises(error, match=text):
        call()
