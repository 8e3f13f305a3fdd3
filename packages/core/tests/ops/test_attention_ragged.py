"""Attention of sequences of different lengths: each gets the bits that it gets alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import taeda
from taeda._C import _nn

#: offsets of queries and of keys: blocks of 64 queries, sequences of none and of a few, keys of none
CASES = [
    ([0, 70, 71, 71, 77, 277], [0, 130, 131, 135, 135, 335]),
    ([0, 1], [0, 1]),
    ([0, 3, 6], [0, 300, 301]),
    ([0, 0, 0], [0, 2, 4]),
    ([0, 65], [0, 0]),
    ([0], [0]),
]


def numbers(*shape, seed):
    made = np.random.default_rng(seed).standard_normal(shape).astype("float32")
    return taeda.from_numpy(made)


def operands(ends, *, heads=4, of_keys=2, width=24, of_values=17):
    rows, keys = ends[0][-1], ends[1][-1]
    q = numbers(rows, heads, width, seed=0).transpose(0, 1)
    k = numbers(of_keys, keys, width, seed=1)
    return q, k, numbers(keys, of_values, of_keys, seed=2).permute(2, 0, 1)


def alone(tensors, ends, causal, grad=None):
    """Output and gradients of each sequence by the kernel of one batch."""
    for (a, b), (c, d) in zip(*map(itertools.pairwise, ends), strict=True):
        q, k, v = (
            x[:, s:e].unsqueeze(0)
            for x, (s, e) in zip(tensors, ((a, b), (c, d), (c, d)), strict=True)
        )
        output, total = _nn._fused_attention(q, k, v, None, causal, 0.3)
        given = (grad[:, a:b].unsqueeze(0), q, k, v, None, output, total, causal, 0.3)
        yield (output, *_nn._fused_attention_backward(*given))


@pytest.mark.parametrize("ends", CASES, ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_sequences_have_the_bits_that_they_have_alone(ends, causal):
    tensors = operands(ends)
    grad = numbers(4, ends[0][-1], 17, seed=3)
    output, total = _nn._ragged_attention(*tensors, *ends, causal, 0.3)
    made = _nn._ragged_attention_backward(grad, *tensors, output, total, *ends, causal, 0.3)
    pieces = list(alone(tensors, ends, causal, grad))
    for number, got in enumerate((output, *made)):
        want = [piece[number].squeeze(0) for piece in pieces]
        assert taeda.equal(got, taeda.cat(want, 1) if want else got)
    assert output.shape == (4, ends[0][-1], 17)


@pytest.mark.parametrize("ends", CASES[:2], ids=str)
def test_threads_change_no_bit(ends):
    tensors, before = operands(ends), taeda.get_num_threads()
    made = []
    try:
        for threads in (1, 2, 3):
            taeda.set_num_threads(threads)
            output, total = _nn._ragged_attention(*tensors, *ends, True, 0.3)
            back = _nn._ragged_attention_backward(output, *tensors, output, total, *ends, True, 0.3)
            made.append((output, total, *back))
    finally:
        taeda.set_num_threads(before)
    for other in made[1:]:
        assert all(map(taeda.equal, made[0], other))


def test_meta_has_the_shapes():
    q = taeda.ones(2, 5, 4, device="meta")
    output, total = _nn._ragged_attention(q, q, q, [0, 2, 5], [0, 4, 5], False, 1.0)
    assert (output.shape, total.shape) == ((2, 5, 4), (10,))
    made = _nn._ragged_attention_backward(
        output, q, q, q, output, total, [0, 2, 5], [0, 4, 5], False, 1.0
    )
    assert [x.shape for x in made] == [(2, 5, 4)] * 3


ONES = taeda.ones(2, 5, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ONES, ONES, ONES, [0, 5], [0, 2, 5]), "one length"),
        ((ONES, ONES, ONES, [0, 6], [0, 5]), "query_offsets must begin at 0.*5 rows"),
        ((ONES, ONES, ONES, [0, 5], [1, 5]), "key_offsets must begin at 0"),
        ((ONES, ONES, ONES, [0, 4, 2, 5], [0, 1, 2, 5]), "never fall"),
        ((ONES, ONES, ONES, [0, -1, 5], [0, 1, 5]), "never fall"),
        ((ONES, ONES, ONES, [], []), "query_offsets"),
        ((ONES[:1], ONES, ONES, [0, 5], [0, 5]), "H a multiple of G"),
        ((ONES, ONES, ONES[:, :4], [0, 5], [0, 5]), "the shapes are"),
        ((ONES.double(), ONES.double(), ONES.double(), [0, 5], [0, 5]), "float64"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        _nn._ragged_attention(*arguments, False, 1.0)


def test_backward_refuses_what_forward_did_not_make():
    output, total = _nn._ragged_attention(ONES, ONES, ONES, [0, 5], [0, 5], False, 1.0)
    for grad, made, sums in (
        (output[:, :4], output, total),
        (output, output[..., :3], total),
        (output, output, total[:9]),
        (output, output, total.float()),
    ):
        with pytest.raises(RuntimeError, match="ragged attention"):
            _nn._ragged_attention_backward(
                grad, ONES, ONES, ONES, made, sums, [0, 5], [0, 5], False, 1.0
            )
