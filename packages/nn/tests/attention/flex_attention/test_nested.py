"""Sequences of different lengths: each attends to itself, as it does alone."""

from __future__ import annotations

import pytest
from attention_inputs import causal

import taeda
from taeda.nn.attention import flex_attention as flex
from taeda.testing import assert_close

LENGTHS = [5, 1, 0, 9]


def pieces(lengths=LENGTHS, seed=0):
    taeda.manual_seed(seed)
    return [taeda.randn(2, n, 4, dtype=taeda.float64) for n in lengths]


def nested(parts):
    ends = taeda.tensor([0, *[p.shape[1] for p in parts]]).cumsum(0)
    return taeda.nested.nested_tensor_from_jagged(taeda.cat(parts, 1), ends, jagged_dim=2)


def by_place(score, b, h, q_idx, kv_idx):
    return score + 0.1 * b - 0.2 * (q_idx - kv_idx) * (h + 1)


@pytest.mark.parametrize("mask_mod", [None, causal])
@pytest.mark.parametrize("score_mod", [None, by_place])
@pytest.mark.parametrize("others", [LENGTHS, [2, 3, 4, 1]])
def test_each_sequence_has_what_it_has_alone(mask_mod, score_mod, others):
    queries, keys, values = pieces(), pieces(others, 1), pieces(others, 2)
    q, k, v = (nested(x).requires_grad_() for x in (queries, keys, values))
    mask = mask_mod and flex.create_nested_block_mask(mask_mod, 1, None, q, k, BLOCK_SIZE=2)
    made = flex.flex_attention(q, k, v, score_mod, mask)
    made.sum().backward()
    for n, own in enumerate(zip(queries, keys, values, strict=True)):
        own = [x.unsqueeze(0).requires_grad_() for x in own]
        mod = score_mod and (lambda s, b, h, i, j, n=n: score_mod(s, b + n, h, i, j))
        lengths = own[0].shape[2], own[1].shape[2]
        alone = mask_mod and flex.create_block_mask(mask_mod, 1, None, *lengths)
        wanted = flex.flex_attention(*own, mod, alone)
        assert_close(made.unbind()[n], wanted[0])
        wanted.sum().backward()
        for whole, one in zip((q, k, v), own, strict=True):
            assert_close(whole.grad.unbind()[n], one.grad[0])


def test_what_else_comes_is_nested():
    x = nested(pieces([3, 2]))
    _, lse = flex.flex_attention(x, x, x, return_lse=True)
    assert lse.is_nested and lse.unbind()[1].shape == (2, 2)
    aux = flex.flex_attention(x, x, x, return_aux=flex.AuxRequest(max_scores=True))[1]
    assert aux.lse is None and aux.max_scores.unbind()[0].shape == (2, 3)


def test_queries_without_keys_see_nothing():
    x = taeda.ones(1, 2, 3, 4)
    out, aux = flex.flex_attention(
        x, x[:, :, :0], x[:, :, :0], return_aux=flex.AuxRequest(lse=True, max_scores=True)
    )
    assert not out.any() and aux.lse.isneginf().all() and aux.max_scores.isneginf().all()


def test_refused():
    x, y = nested(pieces([3, 2])), nested(pieces([2, 3]))
    mask = flex.create_block_mask(causal, None, None, 5, 5)
    for other in (mask, flex.create_nested_block_mask(causal, 1, 1, y)):
        with pytest.raises(ValueError, match="not of these sequences"):
            flex.flex_attention(x, x, x, block_mask=other)
    with pytest.raises(ValueError, match="keys and values have sequences of different lengths"):
        flex.flex_attention(x, x, y)
    with pytest.raises(ValueError, match="wanted a nested tensor"):
        flex.flex_attention(x, x, taeda.ones(1, 2, 5, 4, dtype=taeda.float64))
    with pytest.raises(ValueError, match="dimension 2 is ragged, but it is 1"):
        flex.create_nested_block_mask(causal, 1, 1, x.transpose(1, 2))
    with pytest.raises(ValueError, match="B must be 1 or None"):
        flex.create_nested_block_mask(causal, 2, 1, x)
    with pytest.raises(ValueError, match="2 sequences of queries and 3 of keys"):
        flex.create_nested_block_mask(causal, 1, 1, x, nested(pieces([1, 1, 1])))
