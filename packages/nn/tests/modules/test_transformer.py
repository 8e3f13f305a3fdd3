"""Transformer layers and stacks."""

from __future__ import annotations

import math

import pytest

import taeda
from taeda import nn


def encoder_layer(**options):
    return nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, **options)


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


def test_what_layers_written_elsewhere_import():
    from taeda.nn.modules.transformer import _get_activation_fn, _get_clones

    assert _get_activation_fn("gelu")(taeda.tensor(0.0)) == 0
    layers = _get_clones(nn.Linear(2, 2), 3)
    assert len({id(layer.weight) for layer in layers}) == 3
    with pytest.raises(RuntimeError, match="relu/gelu, not swish"):
        _get_activation_fn("swish")


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_an_encoder_of_nested_sequences_is_one_of_each(norm_first, causal):
    taeda.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True, norm_first=norm_first)
    encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(8))
    pieces = [taeda.randn(n, 8) for n in (3, 1, 5)]
    whole = taeda.nested.nested_tensor(pieces, layout=taeda.jagged, requires_grad=True)
    made = encoder(whole, is_causal=causal)
    single = [piece.clone().requires_grad_() for piece in pieces]
    for a, x in zip(made.unbind(), single, strict=True):
        mask = nn.Transformer.generate_square_subsequent_mask(len(x)) if causal else None
        b = encoder(x[None], mask=mask)[0]
        assert taeda.allclose(a, b, atol=1e-5)
        b.sin().sum().backward()
    made.sin().sum().backward()
    for a, x in zip(whole.grad.unbind(), single, strict=True):
        assert taeda.allclose(a, x.grad, atol=1e-5)
