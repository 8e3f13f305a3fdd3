"""Transformer layers and stacks."""

from __future__ import annotations

import math

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


def test_a_causal_mask_hides_the_future():
    stack = nn.TransformerEncoder(encoder_layer(), 2, nn.LayerNorm(8))
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    assert mask[0].tolist() == [0, -math.inf, -math.inf, -math.inf, -math.inf]
    x = taeda.randn(5, 1, 8)
    changed = x.clone()
    changed[3:] += 1
    before, after = stack(x, mask=mask), stack(changed, mask=mask)
    assert taeda.allclose(before[:3], after[:3], atol=1e-5)
    assert not taeda.allclose(before[3:], after[3:])
    told = stack(x, mask=mask, is_causal=True)
    assert taeda.allclose(told, before, atol=1e-5)


def test_padding_is_ignored():
    stack = nn.TransformerEncoder(encoder_layer(batch_first=True), 1)
    x = taeda.randn(2, 5, 8)
    padding = taeda.tensor([[False] * 5, [False] * 3 + [True] * 2])
    changed = x.clone()
    changed[1, 3:] = 7
    first = stack(x, src_key_padding_mask=padding)
    assert taeda.allclose(
        first[1, :3], stack(changed, src_key_padding_mask=padding)[1, :3], atol=1e-5
    )


def test_layers_of_a_stack_are_copies():
    stack = nn.TransformerEncoder(encoder_layer(), 2)
    assert stack.layers[0].linear1.weight is not stack.layers[1].linear1.weight
    assert taeda.equal(stack.layers[0].linear1.weight, stack.layers[1].linear1.weight)


def test_the_whole():
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True, bias=False)
    source, target = taeda.randn(2, 6, 8), taeda.randn(2, 4, 8)
    assert model(source, target).shape == (2, 4, 8)
    assert not [name for name, _ in model.named_parameters() if name.endswith("bias")]
    model(source, target).sum().backward()
    assert all(p.grad is not None for p in model.parameters())


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: encoder_layer(activation="tanh"), "relu/gelu, not tanh"),
        (
            lambda: nn.Transformer(8, 2, 1, 1)(taeda.ones(3, 2, 8), taeda.ones(3, 1, 8)),
            "got 2 and 1",
        ),
        (
            lambda: nn.Transformer(8, 2, 1, 1)(taeda.ones(3, 2, 7), taeda.ones(3, 2, 7)),
            "7 and 7 for 8",
        ),
    ],
)
def test_refusals(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4)], ids=["batch first", "length first"])
@pytest.mark.parametrize("training", [True, False])
def test_a_batch_of_nothing(shape, training):
    first = shape[0] == 0
    encoder = nn.TransformerEncoderLayer(4, 2, 8, batch_first=first).train(training)
    decoder = nn.TransformerDecoderLayer(4, 2, 8, batch_first=first).train(training)
    whole = nn.Transformer(4, 2, 1, 1, 8, batch_first=first).train(training)
    x = taeda.ones(shape, requires_grad=True)
    for result in (encoder(x), decoder(x, x), whole(x, x), nn.TransformerEncoder(encoder, 2)(x)):
        assert result.shape == shape
        result.sum().backward()
    assert x.grad.shape == shape


@pytest.mark.parametrize("need_weights", [True, False])
def test_attention_of_a_batch_of_nothing_with_masks(need_weights):
    attention = nn.MultiheadAttention(4, 2, batch_first=True)
    x = taeda.ones(0, 3, 4)
    padding = taeda.zeros(0, 3)
    for mask in (None, taeda.zeros(3, 3), taeda.zeros(0, 3, 3)):
        result, weights = attention(
            x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=need_weights
        )
        assert result.shape == (0, 3, 4)
        assert weights is None or weights.shape == (0, 3, 3)
    for mask in (taeda.zeros(3, 3), taeda.zeros(0, 3, 3)):
        assert attention.merge_masks(mask, padding, x)[0].shape == (0, 2, 3, 3)
