"""Attention with functions of positions, and masks by blocks."""

from __future__ import annotations

import pytest
from attention_inputs import causal, inputs, near

import taeda
from taeda.autograd import gradcheck
from taeda.nn.attention import flex_attention as flex
from taeda.nn.functional import scaled_dot_product_attention


def test_without_functions_it_is_plain_attention():
    q, k, v = inputs(5, 7)
    assert taeda.allclose(flex.flex_attention(q, k, v), scaled_dot_product_attention(q, k, v))
    scaled = flex.flex_attention(q, k, v, scale=0.3)
    assert taeda.allclose(scaled, scaled_dot_product_attention(q, k, v, scale=0.3))


@pytest.mark.parametrize("size", [1, 2, 4, (2, 3), 128])
@pytest.mark.parametrize("mod", [causal, near])
def test_masks_by_blocks_are_masks(mod, size):
    q, k, v = inputs(6, 7)
    block = flex.create_block_mask(mod, None, None, 6, 7, BLOCK_SIZE=size)
    mask = flex.create_mask(mod, None, None, 6, 7)
    wanted = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert taeda.allclose(flex.flex_attention(q, k, v, block_mask=block), wanted)


def test_scores_by_position():
    q, k, v = inputs()
    table = taeda.randn(2, 6, 6).double()
    made = flex.flex_attention(q, k, v, lambda score, b, h, i, j: score + table[h, i, j])
    assert taeda.allclose(made, scaled_dot_product_attention(q, k, v, attn_mask=table))
    hidden = flex.flex_attention(
        q, k, v, lambda score, b, h, i, j: taeda.where(i >= j, score, -taeda.inf)
    )
    assert taeda.allclose(hidden, scaled_dot_product_attention(q, k, v, is_causal=True))


def test_log_sum_exp_largest_and_rows_that_see_nothing():
    q, k, v = inputs()
    block = flex.create_block_mask(lambda b, h, i, j: i > 2, None, None, 6, 6, BLOCK_SIZE=2)
    out, lse = flex.flex_attention(q, k, v, block_mask=block, return_lse=True)
    scores = q @ k.mT / 2
    assert not out[:, :, :3].any() and (lse[:, :, :3] == -taeda.inf).all()
    assert taeda.allclose(lse[:, :, 3:], scores.logsumexp(-1)[:, :, 3:])
    request = flex.AuxRequest(lse=True, max_scores=True)
    _, aux = flex.flex_attention(q, k, v, return_aux=request)
    assert taeda.equal(aux.max_scores, scores.amax(-1)) and aux.lse.shape == (2, 2, 6)
    assert flex.flex_attention(q, k, v, return_aux=flex.AuxRequest())[1] == (None, None)


MASKS = {
    "none": None,
    "causal": causal,
    "window": lambda b, h, i, j: (i - j).abs() <= 3,
    "by head": lambda b, h, i, j: (h == 0) | (i == j),
    "blind rows": lambda b, h, i, j: (i > 9) & (j > 4),
    "only late keys": lambda b, h, i, j: j > 20,
}


@pytest.mark.parametrize("size", [1, 4, (3, 8), 128])
@pytest.mark.parametrize("mask", MASKS)
def test_blocks_of_queries_give_what_the_whole_gives(mask, size, monkeypatch):
    """Over only those keys that a block sees: indices count from the sequence's beginning."""
    q, k, v = inputs(23, 29)
    mod = MASKS[mask]
    block = mod and flex.create_block_mask(mod, 2, 2, 23, 29, BLOCK_SIZE=size)
    asked = []

    def score(s, b, h, i, j):
        asked.append(s.shape[2] * s.shape[3])
        return s * (1 + h) + (j - i) * 0.1

    def run(places):
        monkeypatch.setattr("taeda.nn.attention.flex_attention._attention.PLACES", places)
        asked.clear()
        inside = [t.clone().requires_grad_() for t in (q, k, v)]
        request = flex.AuxRequest(lse=True, max_scores=True)
        out, aux = flex.flex_attention(*inside, score, block, return_aux=request)
        grads = taeda.autograd.grad(out.sin().sum(), inside)
        return [out, aux.lse, aux.max_scores, *grads]

    whole, parts = run(1 << 20), run(200)
    assert len(asked) == -(-23 // max(block.BLOCK_SIZE[0] if block else 1, 1))
    for a, b in zip(whole, parts, strict=True):
        assert taeda.allclose(a, b, atol=1e-12)
    if mask == "window" and size in (1, 4):
        assert sum(asked) < 23 * 29 / 2


def test_a_mask_that_changes_is_read_anew(monkeypatch):
    monkeypatch.setattr("taeda.nn.attention.flex_attention._attention.PLACES", 8)
    q, k, v = inputs(6, 6)
    block = flex.create_block_mask(causal, None, None, 6, 6, BLOCK_SIZE=2)
    flex.flex_attention(q, k, v, block_mask=block)
    other = flex.create_block_mask(lambda b, h, i, j: i <= j, None, None, 6, 6, BLOCK_SIZE=2)
    for name in ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices"):
        getattr(block, name).copy_(getattr(other, name))
    block.mask_mod = other.mask_mod
    wanted = flex.flex_attention(q, k, v, block_mask=other)
    assert taeda.equal(flex.flex_attention(q, k, v, block_mask=block), wanted)


def test_gradients():
    q, k, v = (t[:1, :1, :3].requires_grad_() for t in inputs())
    block = flex.create_block_mask(
        lambda b, h, i, j: (i >= j) & (i > 0), None, None, 3, 3, BLOCK_SIZE=2
    )
    slope = taeda.tensor(0.3, dtype=taeda.float64, requires_grad=True)

    def run(q, k, v, slope):
        return flex.flex_attention(q, k, v, lambda s, b, h, i, j: s + slope * (j - i), block)

    assert gradcheck(run, (q, k, v, slope))


def test_groups_of_heads_and_lower_types():
    q, k, v = inputs(heads=4)
    made = flex.flex_attention(q, k, v, enable_gqa=True)
    assert taeda.allclose(made, scaled_dot_product_attention(q, k, v, enable_gqa=True))
    low = flex.flex_attention(*(t.bfloat16() for t in inputs()))
    assert low.dtype is taeda.bfloat16
    assert taeda.allclose(low.double(), flex.flex_attention(*inputs()), atol=0.05)


Q = taeda.ones(2, 4, 3, 2)


REFUSED = {
    "dimensions": (lambda: flex.flex_attention(Q[0], Q[0], Q[0]), NotImplementedError, "4D tensors"),
    "features": (lambda: flex.flex_attention(Q, Q[..., :1], Q), ValueError, "E=2 and E=1"),
    "dtypes": (lambda: flex.flex_attention(Q, Q.double(), Q), ValueError, "same dtype"),
    "heads": (lambda: flex.flex_attention(Q, Q[:, :2], Q[:, :2]), ValueError, "Hq=4 and Hkv=2. Try"),
    "groups": (lambda: flex.flex_attention(Q[:, :3], Q[:, :2], Q[:, :2], enable_gqa=True),
        ValueError, "multiple of kv heads"),
    "values": (lambda: flex.flex_attention(Q, Q, Q[:, :, :2]), ValueError, "key and value to match"),
    "batches": (lambda: flex.flex_attention(Q[:1], Q, Q), ValueError, "Bq=1 and Bkv=2"),
    "lengths": (
        lambda: flex.flex_attention(Q, Q, Q, block_mask=flex.create_block_mask(causal, None, None, 4, 4)),
        ValueError, r"got q_len=3 and kv_len=3",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()
