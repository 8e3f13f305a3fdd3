"""Attention with functions of positions, and masks by blocks."""

from __future__ import annotations

import pytest

import taeda
from taeda.autograd import gradcheck
from taeda.nn.attention import flex_attention as flex
from taeda.nn.functional import scaled_dot_product_attention


def inputs(length=6, keys=6, heads=2, of_keys=2):
    taeda.manual_seed(0)
    made = (
        taeda.randn(2, heads, length, 4),
        taeda.randn(2, of_keys, keys, 4),
        taeda.randn(2, of_keys, keys, 3),
    )
    return tuple(t.double() for t in made)


def causal(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


def near(b, h, q_idx, kv_idx):
    return (q_idx - kv_idx).abs() <= 1


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


# ---- masks ----


def test_lists_of_blocks():
    mask = flex.create_block_mask(causal, None, None, 5, 6, BLOCK_SIZE=2)
    assert mask.shape == (1, 1, 5, 6) and mask.numel() == 30 and mask.BLOCK_SIZE == (2, 2)
    assert mask.kv_num_blocks.tolist() == [[[1, 1, 3]]]
    assert mask.kv_indices.tolist() == [[[[0, 1, 2], [1, 0, 2], [0, 1, 2]]]]
    assert mask.full_kv_num_blocks.tolist() == [[[0, 1, 0]]]
    assert mask.q_num_blocks.tolist() == [[[2, 2, 1]]]
    assert mask.to_dense().tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]]
    assert mask.sparsity() == pytest.approx(20)
    assert len(mask.as_tuple()) == 13 and mask.as_tuple(flatten=False)[0] == (5, 6)
    assert mask.to("cpu").to_dense().tolist() == mask.to_dense().tolist()
    assert "sparsity=20.00%" in str(mask) and "BLOCK_SIZE=(2, 2)" in repr(mask)
    assert mask.to_string().splitlines()[1:] == ["░░    ", "██░░  ", "░░░░░░"]
    assert mask.to_string(grid_size=1).splitlines() == ["(0)", "░░"]


def test_a_mask_of_given_blocks_shows_those_only():
    q, k, v = inputs(4, 4)
    count, order = taeda.tensor([[[1, 2]]]), taeda.tensor([[[[1, 0], [0, 1]]]])
    mask = flex.BlockMask.from_kv_blocks(count, order, BLOCK_SIZE=2)
    assert mask.seq_lengths == (4, 4)
    shown = taeda.tensor([[0, 0, 1, 1]] * 2 + [[1, 1, 1, 1]] * 2).bool()
    wanted = scaled_dot_product_attention(q, k, v, attn_mask=shown)
    assert taeda.allclose(flex.flex_attention(q, k, v, block_mask=mask), wanted)


def test_parts_of_masks():
    mask = flex.create_block_mask(lambda b, h, i, j: (i >= j) | (h == 1), 2, 2, 4, 4, BLOCK_SIZE=2)
    assert mask[0].shape == (1, 2, 4, 4) and mask[:, 1].to_dense().all()
    assert mask[1, -1].shape == (1, 1, 4, 4)
    assert mask.to_string(limit=1).splitlines()[-1] == "..."


def test_joined_masks_and_masks_of_score_functions():
    both = flex.create_mask(flex.and_masks(causal, near), None, None, 3, 3)[0, 0]
    either = flex.create_mask(flex.or_masks(causal, near), None, None, 3, 3)[0, 0]
    assert both.int().tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    assert either.int().tolist() == [[1, 1, 0], [1, 1, 1], [1, 1, 1]]
    assert flex.create_mask(flex.noop_mask, 2, 3, 1, 1).shape == (2, 3, 1, 1)
    assert not flex.create_mask(flex.or_masks(), None, None, 1, 1).any()

    def hides(score, b, h, i, j):
        return taeda.where(i == j, score, -taeda.inf)

    assert flex.create_mask(hides, None, None, 2, 2)[0, 0].int().tolist() == [[1, 0], [0, 1]]


Q = taeda.ones(2, 4, 3, 2)
REFUSED = {
    "dimensions": (lambda: flex.flex_attention(Q[0], Q[0], Q[0]), NotImplementedError, "4D tensors"),
    "features": (lambda: flex.flex_attention(Q, Q[..., :1], Q), ValueError, "E=2 and E=1"),
    "dtypes": (lambda: flex.flex_attention(Q, Q.double(), Q), ValueError, "same dtype"),
    "heads": (lambda: flex.flex_attention(Q, Q[:, :2], Q[:, :2]), ValueError, "Hq=4 and Hkv=2. Try"),
    "groups": (lambda: flex.flex_attention(Q[:, :3], Q[:, :2], Q[:, :2], enable_gqa=True), ValueError, "multiple of kv heads"),
    "values": (lambda: flex.flex_attention(Q, Q, Q[:, :, :2]), ValueError, "key and value to match"),
    "batches": (lambda: flex.flex_attention(Q[:1], Q, Q), ValueError, "Bq=1 and Bkv=2"),
    "lengths": (
        lambda: flex.flex_attention(Q, Q, Q, block_mask=flex.create_block_mask(causal, None, None, 4, 4)),
        ValueError, r"got q_len=3 and kv_len=3",
    ),
    "no functions": (lambda: flex.and_masks(3), RuntimeError, r"callable mask_mods: \(3,\)"),
    "no function": (lambda: flex.create_mask(3, None, None, 2, 2), TypeError, "got int"),
    "arguments": (lambda: flex.create_mask(lambda a: a, None, None, 2, 2), ValueError, "this one takes 1"),
    "lists": (
        lambda: flex.BlockMask.from_kv_blocks(taeda.tensor([1]), taeda.tensor([0])), RuntimeError, "at least 2 dimensions"
    ),
    "one full list": (
        lambda: flex.BlockMask.from_kv_blocks(Q[0, 0, :1, 0], Q[0, :1, 0], Q[0]), AssertionError, "both given"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()
