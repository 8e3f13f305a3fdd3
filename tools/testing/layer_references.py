"""Layers of `taeda.nn` by definitions in numpy, for the tests of several of them."""

from __future__ import annotations

import numpy as np

import taeda
from taeda import nn


def check_layer(code, text, shape, function):
    """The layer `nn.<code>` prints `text` within its name, and does to a tensor of `shape` what
    `function` does.
    """
    layer = eval(f"nn.{code}", {"nn": nn}).eval()
    assert repr(layer) == f"{type(layer).__name__}({text})"
    taeda.manual_seed(0)
    x = taeda.randn(shape)
    expected = function(x.clone())
    result = layer(x.clone())
    assert result.shape == expected.shape
    assert taeda.allclose(result, expected, atol=1e-6)


def normalised(x, axes, eps=1e-5):
    """`x` with mean 0 and variance 1 over `axes`."""
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(var + eps)


def close(result, expected, atol=1e-5):
    """A tensor has the numbers of an array."""
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-4, atol=atol)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def recurrent_step(kind, x, h, c, w, suffix):
    """One step in numpy: (h, c)."""
    share = x @ w[f"weight_ih{suffix}"].T + w.get(f"bias_ih{suffix}", 0)
    own = h @ w[f"weight_hh{suffix}"].T + w.get(f"bias_hh{suffix}", 0)
    if kind == "GRU":
        (xr, xz, xn), (hr, hz, hn) = np.split(share, 3, -1), np.split(own, 3, -1)
        n = np.tanh(xn + sigmoid(xr + hr) * hn)
        z = sigmoid(xz + hz)
        return (1 - z) * n + z * h, c
    if kind == "LSTM":
        i, f, g, o = np.split(share + own, 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        return h @ w[f"weight_hr{suffix}"].T if f"weight_hr{suffix}" in w else h, c
    total = share + own
    return (np.maximum(total, 0) if kind == "relu" else np.tanh(total)), c
