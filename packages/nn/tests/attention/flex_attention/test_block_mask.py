"""Masks by blocks."""

from __future__ import annotations

import pytest
from attention_inputs import causal, inputs

import taeda
from taeda.nn.attention import flex_attention as flex
from taeda.nn.functional import scaled_dot_product_attention


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


Q = taeda.ones(2, 4, 3, 2)


REFUSED = {
    "lists": (
        lambda: flex.BlockMask.from_kv_blocks(taeda.tensor([1]), taeda.tensor([0])), RuntimeError,
        "at least 2 dimensions"
    ),
    "one full list": (
        lambda: flex.BlockMask.from_kv_blocks(Q[0, 0, :1, 0], Q[0, :1, 0], Q[0]), AssertionError, "both given"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()
