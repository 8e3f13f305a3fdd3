"""Attention of several heads by a loop over them, its masks and refusals; the gradient of one head."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda
from taeda.autograd import gradcheck
from taeda.nn import functional as F
from taeda.nn.functional import scaled_dot_product_attention
from taeda.nn.functional._attention import canonical_mask


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("queries", "keys"), [(1, 40), (4, 700), (6, 256), (7, 257), (130, 300), (300, 300)]
)
def test_weights_of_the_gradient_add_up_to_one(queries, keys, causal):
    """The gradient of the values' sum is the number of queries, however large the scores are."""
    taeda.manual_seed(3)
    q, k = taeda.randn(1, 2, queries, 10) * 30, taeda.randn(1, 2, keys, 10)
    v = taeda.randn(1, 2, keys, 5, requires_grad=True)
    made = scaled_dot_product_attention(q, k, v, scale=1.7, is_causal=causal)
    made.sum().backward()
    assert ((v.grad.double().sum(-2) - queries).abs() < queries * 4e-7).all()


# ---- several heads ----

E, HEADS = 6, 2


def double(*shape):
    return taeda.randn(shape, dtype=taeda.float64)


@pytest.fixture
def given():
    """Query, key and value (L, N, E), and what projects them."""
    taeda.manual_seed(0)
    tensors = {"query": double(4, 3, E), "key": double(5, 3, E), "value": double(5, 3, E)}
    names = ("in_proj_weight", "in_proj_bias", "out_proj_weight", "out_proj_bias")
    shapes = ((3 * E, E), (3 * E,), (E, E), (E,))
    return tensors | {name: double(*shape) for name, shape in zip(names, shapes, strict=True)}


def attend(given, **options):
    settings = {"embed_dim_to_check": E, "num_heads": HEADS, "bias_k": None, "bias_v": None,
                "add_zero_attn": False, "dropout_p": 0.0}  # fmt: skip
    return F.multi_head_attention_forward(**given, **(settings | options))


def by_heads(given, mask=0.0, extra=None):
    """Outputs (L, N, E) and weights (N, heads, L, S), each head of each sample for itself; `mask`
    (N, heads, L, S) is added.
    """
    a = {name: t.numpy() for name, t in given.items()}
    w, b = np.split(a["in_proj_weight"], 3), np.split(a["in_proj_bias"], 3)
    q, k, v = (a[n] @ w[i].T + b[i] for i, n in enumerate(("query", "key", "value")))
    if extra is not None:
        k, v = (
            np.concatenate([t, np.broadcast_to(e, (1, 3, E))])
            for t, e in zip((k, v), extra, strict=True)
        )
    size = E // HEADS
    mask = np.broadcast_to(mask, (3, HEADS, len(q), len(k)))
    joined, weights = np.zeros_like(q), np.zeros(mask.shape)
    for n in range(3):
        for h in range(HEADS):
            own = slice(h * size, (h + 1) * size)
            scores = np.exp(q[:, n, own] @ k[:, n, own].T / math.sqrt(size) + mask[n, h])
            weights[n, h] = scores / scores.sum(-1, keepdims=True)
            joined[:, n, own] = weights[n, h] @ v[:, n, own]
    return joined @ a["out_proj_weight"].T + a["out_proj_bias"], weights


def close(made, wanted):
    np.testing.assert_allclose(made.detach().numpy(), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("need_weights", [True, False])
def test_each_head_attends_for_itself(given, need_weights):
    wanted, shares = by_heads(given)
    output, weights = attend(given, need_weights=need_weights)
    close(output, wanted)
    if need_weights:
        close(weights, shares.mean(1))
        close(attend(given, average_attn_weights=False)[1], shares)
    else:
        assert weights is None


@pytest.mark.parametrize("need_weights", [True, False])
def test_masks_add_up(given, need_weights):
    of_heads = double(3 * HEADS, 4, 5)
    padding = taeda.tensor([[False] * 5, [False] * 4 + [True], [True] + [False] * 4])
    added = np.where(padding.numpy(), -np.inf, 0.0)[:, None, None, :]
    with pytest.warns(UserWarning, match="mismatched key_padding_mask and attn_mask"):
        output, _ = attend(
            given, attn_mask=of_heads, key_padding_mask=padding, need_weights=need_weights
        )
    close(output, by_heads(given, of_heads.numpy().reshape(3, HEADS, 4, 5) + added)[0])
    shared = taeda.ones(4, 5, dtype=taeda.bool).triu(2)
    output, _ = attend(given, attn_mask=shared, need_weights=need_weights)
    close(output, by_heads(given, np.where(shared.numpy(), -np.inf, 0.0))[0])


@pytest.mark.parametrize("need_weights", [True, False])
def test_the_causal_hint_is_the_causal_mask(given, need_weights):
    given["key"], given["value"] = given["key"][:4], given["value"][:4]
    mask = taeda.ones(4, 4, dtype=taeda.bool).triu(1)
    output, _ = attend(given, attn_mask=mask, is_causal=True, need_weights=need_weights)
    close(output, by_heads(given, np.where(mask.numpy(), -np.inf, 0.0))[0])


def test_keys_that_are_learnt_and_keys_of_zeros(given):
    extra = double(1, 1, E), double(1, 1, E)
    output, weights = attend(given, bias_k=extra[0], bias_v=extra[1])
    close(output, by_heads(given, extra=[e.numpy() for e in extra])[0])
    assert weights.shape == (3, 4, 6)
    zeros = attend(given, add_zero_attn=True, attn_mask=taeda.zeros(4, 5, dtype=taeda.float64))
    close(zeros[0], by_heads(given, extra=[np.zeros((1, 1, E))] * 2)[0])


def test_separate_projections_are_the_parts_of_the_joint_one(given):
    wanted = attend(given)[0]
    parts = given.pop("in_proj_weight").chunk(3)
    names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    separate = dict(zip(names, parts, strict=True))
    made = attend(given, in_proj_weight=None, use_separate_proj_weight=True, **separate)[0]
    assert taeda.allclose(made, wanted)
    with pytest.raises(AssertionError, match="need q_proj_weight, k_proj_weight and v_proj_weight"):
        attend(given, in_proj_weight=None, use_separate_proj_weight=True)


def test_one_tensor_for_all_three_is_projected_at_once(given):
    x = given["key"]
    once = attend(given | {"query": x, "key": x, "value": x})[0]
    close(attend(given | {"query": x, "key": x.clone(), "value": x.clone()})[0], once.numpy())


def test_static_keys_and_values_take_the_place_of_the_projected(given):
    k, v = double(3 * HEADS, 7, E // HEADS), double(3 * HEADS, 7, E // HEADS)
    output, weights = attend(given, static_k=k, static_v=v)
    assert weights.shape == (3, 4, 7)
    close(attend(given, static_k=k, static_v=v, need_weights=False)[0], output.numpy())
    with pytest.raises(
        AssertionError, match=r"static_k of sizes \(6, \*, 3\), but got \(2, 7, 3\)"
    ):
        attend(given, static_k=k[:2])
    with pytest.raises(AssertionError, match="cannot be added to static"):
        attend(given, static_k=k, bias_k=double(1, 1, E), bias_v=double(1, 1, E))


@pytest.mark.parametrize("need_weights", [True, False])
def test_without_a_batch(given, need_weights):
    wanted, shares = attend(given, need_weights=need_weights)
    for name in ("query", "key", "value"):
        given[name] = given[name][:, 1]
    padding = taeda.zeros(5, dtype=taeda.bool)
    output, weights = attend(given, need_weights=need_weights, key_padding_mask=padding)
    assert taeda.allclose(output, wanted[:, 1])
    assert weights is None if shares is None else taeda.allclose(weights, shares[1])


def test_dropped_weights_are_scaled(given):
    taeda.manual_seed(0)
    _, weights = attend(given, dropout_p=0.5, average_attn_weights=False)
    _, kept = attend(given, average_attn_weights=False)
    ratio = weights / kept
    assert ((ratio == 0) | ((ratio - 2).abs() < 1e-9)).all() and 0 < (
        ratio == 0
    ).sum() < ratio.numel()
    close(attend(given, dropout_p=0.5, training=False)[0], attend(given)[0].numpy())


def test_gradients_of_all_that_is_given(given):
    names, tensors = list(given), [t[:2, :1] if t.dim() == 3 else t for t in given.values()]
    tensors = [t.clone().requires_grad_() for t in tensors]
    assert gradcheck(lambda *them: attend(dict(zip(names, them, strict=True))), tensors)


REFUSED = {
    "ranks": ({"query": taeda.ones(1)}, {}, AssertionError, "received 1-D query"),
    "ranks of keys": ({"key": taeda.ones(5, 6)}, {}, AssertionError, "but found 2-D and 3-D"),
    "rank of padding": ({}, {"key_padding_mask": taeda.zeros(5)}, AssertionError, "or 2-D but found 1-D"),
    "rank of a mask": ({}, {"attn_mask": taeda.zeros(5)}, AssertionError, "2-D or 3-D but found 1-D"),
    "embedding": ({}, {"embed_dim_to_check": 4}, AssertionError, "dimension of 4, but got 6"),
    "heads": ({}, {"num_heads": 4}, AssertionError, "6 not divisible by num_heads 4"),
    "sizes": ({"value": double(4, 3, E)}, {}, AssertionError, "does not match value shape"),
    "hint": ({}, {"is_causal": True}, RuntimeError, "Need attn_mask"),
    "shape of a "
    "mask": ({}, {"attn_mask": taeda.zeros(5, 4).double()}, RuntimeError,
        r"\(5, 4\), but should be \(4, 5\)"),
    "masks of "
    "heads": ({}, {"attn_mask": taeda.zeros(3, 4, 5).double()}, RuntimeError, r"should be \(6, 4, 5\)"),
    "padding": ({}, {"key_padding_mask": taeda.zeros(3, 4).double()}, AssertionError,
        r"shape of \(3, 5\), but got \(3, 4\)"),
    "mask of "
    "integers": ({}, {"attn_mask": taeda.zeros(4, 5).long()}, RuntimeError,
        "types of attn_mask are supported, got taeda.int64"),
}  # fmt: skip


@pytest.mark.parametrize(("tensors", "options", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused(given, tensors, options, error, fact):
    with pytest.raises(error, match=fact):
        attend(given | tensors, **options)


def test_separate_sources_have_one_length(given):
    given["value"] = given["value"][:4]
    with pytest.raises(AssertionError, match="do not match value's"):
        attend(given, use_separate_proj_weight=True)


def test_a_mask_of_heads_without_a_batch_has_its_shape_named(given):
    for name in ("query", "key", "value"):
        given[name] = given[name][:, 0]
    with pytest.raises(AssertionError, match=r"to be \(2, 4, 5\) but got \(3, 4, 5\)"):
        attend(given, attn_mask=taeda.zeros(3, 4, 5))


def test_a_truth_value_hides_and_a_number_is_added():
    hidden = canonical_mask(taeda.tensor([True, False]), "mask", None, "", taeda.float64)
    assert hidden.tolist() == [-math.inf, 0] and hidden.dtype is taeda.float64
    added = taeda.tensor([0.5])
    assert canonical_mask(added, "mask", None, "", taeda.float64) is added
    assert canonical_mask(None, "mask", None, "", taeda.float64) is None
