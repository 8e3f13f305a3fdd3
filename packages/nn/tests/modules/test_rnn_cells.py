"""Single steps of recurrent layers."""

from __future__ import annotations

import numpy as np
import pytest
from layer_references import recurrent_step

import taeda
from taeda import nn


@pytest.mark.parametrize(
    ("kind", "make"),
    [("tanh", nn.RNNCell), ("relu", lambda *a: nn.RNNCell(*a, nonlinearity="relu")),
        ("LSTM", nn.LSTMCell), ("GRU", nn.GRUCell)],
)  # fmt: skip
def test_cells(kind, make):
    cell = make(3, 4)
    x, h, c = taeda.randn(2, 3), taeda.randn(2, 4), taeda.randn(2, 4)
    w = {name: p.detach().numpy() for name, p in cell.named_parameters()}
    expected, _ = recurrent_step(kind, x.numpy(), h.numpy(), c.numpy(), w, "")
    given = (h, c) if kind == "LSTM" else h
    result = cell(x, given)
    alone = cell(x[0], (h[0], c[0]) if kind == "LSTM" else h[0])
    if kind == "LSTM":
        result, alone = result[0], alone[0]
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(alone.detach().numpy(), expected[0], rtol=1e-4, atol=1e-5)
    assert cell(x) is not None


X = taeda.ones(2, 2, 3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.GRUCell(3, 3)(X), ValueError, "1D or 2D, got 3D"),
        (lambda: nn.GRUCell(3, 3)(taeda.ones(2, 4)), RuntimeError, "got 4 expected 3"),
        (
            lambda: nn.GRUCell(3, 3)(X[0], taeda.ones(3, 3)),
            RuntimeError,
            "batch size 2 doesn't match",
        ),
        (lambda: nn.GRUCell(3, 3)(X[0], taeda.ones(2, 2)), RuntimeError, "got 2, expected 3"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
