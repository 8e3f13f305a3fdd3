"""Activations as layers."""

from __future__ import annotations

import pytest
from layer_references import check_layer

import taeda
from taeda import nn
from taeda.nn import functional as F

# layer, input shape, function of the input (None: only the text)
LAYERS = [
    ("CELU(2.0)", "alpha=2.0", (3,), lambda x: F.celu(x, 2.0)),
    ("ELU(2.0, True)", "alpha=2.0, inplace=True", (3,), lambda x: F.elu(x, 2.0)),
    ("GELU()", "approximate='none'", (3,), F.gelu),
    ("GELU('tanh')", "approximate='tanh'", (3,), lambda x: F.gelu(x, approximate="tanh")),
    ("Hardshrink(0.3)", "0.3", (3,), lambda x: F.hardshrink(x, 0.3)),
    ("Hardsigmoid()", "", (3,), F.hardsigmoid),
    ("Hardswish(True)", "", (3,), F.hardswish),
    ("Hardtanh(-2.0, 3.0)", "min_val=-2.0, max_val=3.0", (3,), lambda x: x.clamp(-2, 3)),
    ("LeakyReLU(0.2)", "negative_slope=0.2", (3,), lambda x: F.leaky_relu(x, 0.2)),
    ("LogSigmoid()", "", (3,), F.logsigmoid),
    ("Mish()", "", (3,), F.mish),
    ("PReLU()", "num_parameters=1", (3,), lambda x: F.leaky_relu(x, 0.25)),
    ("RReLU(0.1, 0.3)", "lower=0.1, upper=0.3", (3,), lambda x: F.leaky_relu(x, 0.2)),
    ("ReLU(True)", "inplace=True", (3,), lambda x: x.clamp_min(0)),
    ("ReLU6()", "", (3,), lambda x: x.clamp(0, 6)),
    ("SELU()", "", (3,), F.selu),
    ("SiLU()", "", (3,), lambda x: x * x.sigmoid()),
    ("Sigmoid()", "", (3,), lambda x: x.sigmoid()),
    ("Softplus()", "beta=1.0, threshold=20.0", (3,), lambda x: x.exp().log1p()),
    ("Softshrink()", "0.5", (3,), lambda x: F.softshrink(x, 0.5)),
    ("Softsign()", "", (3,), lambda x: x / (1 + x.abs())),
    ("Tanh()", "", (3,), lambda x: x.tanh()),
    ("Tanhshrink()", "", (3,), lambda x: x - x.tanh()),
    ("Threshold(0.1, 20.0)", "threshold=0.1, value=20.0", (3,), lambda x: taeda.where(x > 0.1, x, 20.0)),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "shape", "function"), LAYERS, ids=[c[0] for c in LAYERS])
def test_layer(code, text, shape, function):
    check_layer(code, text, shape, function)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.Hardtanh(2.0, 1.0), ValueError, "min_val=2.0 and max_val=1.0"),
    ],
)
def test_refused_options(call, error, text):
    with pytest.raises(error, match=text):
        call()
