"""Layers of transformers."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn


def encoder_layer(**options):
    return nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, **options)


@pytest.mark.parametrize("norm_first", [True, False])
def test_an_encoder_layer_is_its_parts(norm_first):
    layer = encoder_layer(norm_first=norm_first)
    x = taeda.randn(5, 3, 8)

    def feed(y):
        return layer.linear2(layer.linear1(y).relu())

    def attend(y):
        return layer.self_attn(y, y, y)[0]

    if norm_first:
        y = x + attend(layer.norm1(x))
        expected = y + feed(layer.norm2(y))
    else:
        y = layer.norm1(x + attend(x))
        expected = layer.norm2(y + feed(y))
    assert taeda.allclose(layer(x), expected, atol=1e-5)


def test_a_decoder_layer_looks_at_the_memory():
    layer = nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0)
    target, memory = taeda.randn(4, 3, 8), taeda.randn(6, 3, 8)
    result = layer(target, memory)
    assert result.shape == target.shape
    assert not taeda.allclose(result, layer(target, memory * 2))


def test_batch_first_and_no_batch():
    layer = encoder_layer()
    x = taeda.randn(5, 3, 8)
    expected = layer(x)
    assert taeda.allclose(layer(x[:, 0]), expected[:, 0], atol=1e-5)
    layer.self_attn.batch_first = True
    assert taeda.allclose(layer(x.transpose(0, 1)).transpose(0, 1), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: encoder_layer(activation="tanh"), "relu/gelu, not tanh"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()
