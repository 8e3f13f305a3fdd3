"""MultiheadAttention against numpy; masks, layouts, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda
from taeda import nn


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def reference(layer, q, k, v, mask=0.0):
    """(L, N, E) in numpy: outputs, and weights of each head (N, heads, L, S)."""
    w = {name: p.detach().numpy() for name, p in layer.named_parameters()}
    weights, biases = np.split(w["in_proj_weight"], 3), np.split(w["in_proj_bias"], 3)
    heads, size = layer.num_heads, layer.head_dim
    parts = []
    for x, weight, bias in zip((q, k, v), weights, biases, strict=True):
        projected = x @ weight.T + bias
        parts.append(projected.reshape(*x.shape[:2], heads, size).transpose(1, 2, 0, 3))
    scores = parts[0] @ parts[1].transpose(0, 1, 3, 2) / math.sqrt(size) + mask
    shares = softmax(scores)
    joined = (shares @ parts[2]).transpose(2, 0, 1, 3).reshape(*q.shape[:2], -1)
    return joined @ w["out_proj.weight"].T + w["out_proj.bias"], shares


@pytest.fixture
def layer():
    taeda.manual_seed(0)
    made = nn.MultiheadAttention(8, 2)
    nn.init.normal_(made.in_proj_bias)
    return made


@pytest.fixture
def inputs():
    taeda.manual_seed(1)
    return taeda.randn(4, 3, 8), taeda.randn(5, 3, 8), taeda.randn(5, 3, 8)


def test_against_numpy(layer, inputs):
    expected, shares = reference(layer, *(x.numpy() for x in inputs))
    output, weights = layer(*inputs)
    np.testing.assert_allclose(output.detach().numpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weights.detach().numpy(), shares.mean(1), rtol=1e-4, atol=1e-5)
    _, each = layer(*inputs, average_attn_weights=False)
    np.testing.assert_allclose(each.detach().numpy(), shares, rtol=1e-4, atol=1e-5)
    fast, nothing = layer(*inputs, need_weights=False)
    np.testing.assert_allclose(fast.detach().numpy(), expected, rtol=1e-4, atol=1e-5)
    assert nothing is None


@pytest.mark.parametrize("need_weights", [True, False])
def test_masks(layer, inputs, need_weights):
    hidden = np.zeros((3, 1, 4, 5), bool)
    hidden[:, :, 1, 2:] = True
    hidden[1, :, :, 4] = True
    expected, _ = reference(layer, *(x.numpy() for x in inputs), np.where(hidden, -np.inf, 0))
    attn = taeda.zeros(4, 5, dtype=taeda.bool)
    attn[1, 2:] = True
    padding = taeda.zeros(3, 5, dtype=taeda.bool)
    padding[1, 4] = True
    for mask in (attn, attn.repeat(6, 1, 1)):
        output, _ = layer(
            *inputs, attn_mask=mask, key_padding_mask=padding, need_weights=need_weights
        )
        np.testing.assert_allclose(output.detach().numpy(), expected, rtol=1e-4, atol=1e-5)
    added = taeda.zeros(4, 5).masked_fill(attn, -math.inf)
    floats = taeda.zeros(3, 5).masked_fill(padding, -math.inf)
    output, _ = layer(*inputs, attn_mask=added, key_padding_mask=floats, need_weights=need_weights)
    np.testing.assert_allclose(output.detach().numpy(), expected, rtol=1e-4, atol=1e-5)


def test_causal_hint_is_the_mask(layer, inputs):
    x = inputs[0]
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    plain, _ = layer(x, x, x, attn_mask=mask, need_weights=False)
    hinted, _ = layer(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)
    assert taeda.allclose(plain, hinted, atol=1e-6)
    with pytest.raises(RuntimeError, match="Need attn_mask"):
        layer(x, x, x, is_causal=True)


def test_layouts(layer, inputs):
    output, weights = layer(*inputs)
    layer.batch_first = True
    swapped, same = layer(*(x.transpose(0, 1) for x in inputs))
    assert taeda.allclose(swapped.transpose(0, 1), output, atol=1e-6)
    assert taeda.allclose(same, weights, atol=1e-6)
    single, one = layer(*(x[:, 0] for x in inputs))
    assert taeda.allclose(single, output[:, 0], atol=1e-5)
    assert taeda.allclose(one, weights[0], atol=1e-5)


def test_one_tensor_or_three_equal_ones(layer, inputs):
    x = inputs[1]
    assert taeda.allclose(layer(x, x, x)[0], layer(x, x.clone(), x.clone())[0], atol=1e-6)


def test_other_sizes_and_extra_places():
    layer = nn.MultiheadAttention(8, 2, kdim=3, vdim=5, add_bias_kv=True, add_zero_attn=True)
    q, k, v = taeda.randn(4, 2, 8), taeda.randn(6, 2, 3), taeda.randn(6, 2, 5)
    padding = taeda.zeros(2, 6, dtype=taeda.bool)
    output, weights = layer(q, k, v, key_padding_mask=padding)
    assert output.shape == (4, 2, 8)
    assert weights.shape == (2, 4, 8)
    assert taeda.allclose(weights.sum(-1), taeda.ones(2, 4))


def test_merge_masks(layer):
    query = taeda.ones(3, 4, 8)
    padding, attn = taeda.zeros(3, 4), taeda.zeros(4, 4)
    assert layer.merge_masks(None, None, query) == (None, None)
    assert layer.merge_masks(None, padding, query)[1] == 1
    merged, kind = layer.merge_masks(attn, padding, query)
    assert kind == 2
    assert merged.shape == (3, 2, 4, 4)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: nn.MultiheadAttention(8, 3),
            AssertionError,
            "divisible by num_heads, got 8 and 3",
        ),
        (lambda: nn.MultiheadAttention(0, 1), ValueError, "greater than 0"),
    ],
)
def test_refused_options(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_refused_inputs(layer, inputs):
    q, k, v = inputs
    for given, options, error, text in [
        ((q[0, 0], k, v), {}, AssertionError, "1-D query"),
        ((q, k[0], v), {}, AssertionError, "expected `key` and `value` to be 3-D"),
        ((q[..., :4], k, v), {}, AssertionError, "embedding dimension of 8, but got 4"),
        ((q, k, v[:3]), {}, AssertionError, "does not match value shape"),
        (
            (q, k, v),
            {"attn_mask": taeda.zeros(2, 2)},
            RuntimeError,
            r"\(2, 2\), but should be \(4, 5\)",
        ),
        (
            (q, k, v),
            {"attn_mask": taeda.zeros(4, 5).long()},
            RuntimeError,
            "only bool and floating",
        ),
        ((q, k, v), {"key_padding_mask": taeda.zeros(5)}, AssertionError, "to be `None` or 2-D"),
    ]:
        with pytest.raises(error, match=text):
            layer(*given, **options)
    with pytest.warns(UserWarning, match="mismatched"):
        layer(
            q,
            k,
            v,
            attn_mask=taeda.zeros(4, 5),
            key_padding_mask=taeda.zeros(3, 5, dtype=taeda.bool),
        )


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


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", [{}, {"kdim": 6, "vdim": 6}], ids=["one", "three"])
def test_nested_sequences_attend_by_themselves(causal, sizes):
    layer = nn.MultiheadAttention(8, 2, batch_first=True, **sizes)
    nn.init.normal_(layer.in_proj_bias)
    queries = [taeda.randn(n, 8) for n in (3, 1, 4)]
    others = [taeda.randn(n, 6) for n in (2, 5, 4)] if sizes else queries
    q, k = (taeda.nested.as_nested_tensor(x, layout=taeda.jagged) for x in (queries, others))
    made, nothing = layer(q, k, k, is_causal=causal, need_weights=False)
    for a, x, y in zip(made.unbind(), queries, others, strict=True):
        mask = taeda.ones(len(x), len(y)).tril() == 0 if causal else None
        expected = layer(x[None], y[None], y[None], attn_mask=mask)[0][0]
        np.testing.assert_allclose(a.tolist(), expected.tolist(), rtol=1e-4, atol=1e-6)
    assert nothing is None


def test_nested_refusals():
    x = taeda.nested.nested_tensor([taeda.ones(3, 8), taeda.ones(2, 8)], layout=taeda.jagged)
    layer, mask = nn.MultiheadAttention(8, 2, batch_first=True), taeda.ones(2, 3)
    for call, text in (
        (lambda: nn.MultiheadAttention(8, 2)(x, x, x), "batch_first=True"),
        (lambda: layer(x, x, x), "take no need_weights=True"),
        (lambda: layer(x, x, x, mask, need_weights=False), "take no key_padding_mask"),
        (lambda: layer(x, x, x, attn_mask=mask, need_weights=False), "take no attn_mask"),
        (lambda: layer(x, taeda.ones(2, 3, 8), x, need_weights=False), "strided 3-D"),
        (lambda: nn.MultiheadAttention(4, 2, batch_first=True)(x, x, x, need_weights=False), "of 4"),
        (lambda: nn.MultiheadAttention(8, 2, add_bias_kv=True, batch_first=True)(x, x, x,
            need_weights=False), "take no bias_k"),
        (lambda: nn.MultiheadAttention(8, 2, add_zero_attn=True, batch_first=True)(x, x, x,
            need_weights=False), "take no add_zero_attn"),
    ):  # fmt: skip
        with pytest.raises(AssertionError, match=text):
            call()
