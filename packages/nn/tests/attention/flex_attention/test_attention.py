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
