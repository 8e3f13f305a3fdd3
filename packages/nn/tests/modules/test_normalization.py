"""Normalisation over layers, groups and neighbouring channels."""

from __future__ import annotations

import numpy as np
import pytest
from layer_references import check_layer, close, normalised

import taeda
from taeda import nn
from taeda.nn import functional as F

# layer, input shape, function of the input (None: only the text)
LAYERS = [
    ("GroupNorm(2, 4)", "2, 4, eps=1e-05, affine=True, bias=True", (3, 4, 5), lambda x: F.group_norm(x, 2)),
    ("LayerNorm((5, 6))", "(5, 6), eps=1e-05, elementwise_affine=True, bias=True", (3, 5, 6),
        lambda x: F.layer_norm(x, (5, 6))),
    ("LocalResponseNorm(3)", "3, alpha=0.0001, beta=0.75, k=1.0", (1, 5, 3),
        lambda x: F.local_response_norm(x, 3)),
    ("RMSNorm(5)", "(5,), eps=None, elementwise_affine=True", (3, 5), lambda x: F.rms_norm(x, (5,))),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "shape", "function"), LAYERS, ids=[c[0] for c in LAYERS])
def test_layer(code, text, shape, function):
    check_layer(code, text, shape, function)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: nn.GroupNorm(2, 3),
            ValueError,
            r"num_channels \(3\) must be divisible by num_groups \(2\)",
        ),
    ],
)
def test_refused_options(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nn.GroupNorm(3, 3)(taeda.randn(1, 3)), "more than 1 value per channel"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_layer_norm():
    layer = nn.LayerNorm((3, 4))
    with taeda.no_grad():
        layer.weight.uniform_(0, 1)
        layer.bias.uniform_(0, 1)
    x = taeda.randn(2, 3, 4)
    expected = normalised(x.numpy(), (1, 2)) * layer.weight.detach().numpy()
    close(layer(x), expected + layer.bias.detach().numpy())
    with pytest.raises(RuntimeError, match=r"\[3, 4\]"):
        layer(taeda.randn(2, 4, 3))


def test_rms_norm():
    x = taeda.randn(2, 5)
    array = x.numpy()
    expected = array / np.sqrt((array**2).mean(1, keepdims=True) + np.finfo(np.float32).eps)
    close(nn.RMSNorm(5)(x), expected)
    assert nn.RMSNorm(5, elementwise_affine=False).weight is None


def test_group_norm():
    x = taeda.randn(2, 6, 5)
    grouped = normalised(x.numpy().reshape(2, 3, -1), (2,)).reshape(2, 6, 5)
    close(nn.GroupNorm(3, 6)(x), grouped)
    with pytest.raises(RuntimeError, match="num_groups"):
        nn.functional.group_norm(taeda.randn(2, 5), 3)


def test_local_response_norm():
    x = taeda.randn(1, 5, 2)
    array = x.numpy()
    expected = np.empty_like(array)
    for c in range(5):
        window = array[:, max(0, c - 1) : c + 2]
        total = (window**2).sum(1) / 3
        expected[:, c] = array[:, c] / (1.0 + 0.5 * total) ** 0.75
    close(nn.LocalResponseNorm(3, alpha=0.5)(x), expected)


def test_no_groups_are_refused():
    with pytest.raises(
        ValueError, match=r"num_channels \(4\) must be divisible by num_groups \(0\)"
    ):
        nn.GroupNorm(0, 4)
