"""Attention of nested tensors: sequences know nothing of each other."""

from __future__ import annotations

import pytest
from ragged import equal_pieces, nested_of, pieces_of

import taeda


def attention(*args, **options):
    """Of a sibling, so looked up when a test asks."""
    return taeda.nn.functional.scaled_dot_product_attention(*args, **options)


#: to nested heads; what follows one sequence of them
SHAPES = {
    "heads": ((2, 4), lambda x: x.transpose(1, 2), lambda p: p.transpose(0, 1)),
    "one head": ((8,), lambda x: x, lambda p: p),
}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [taeda.float64, taeda.float32, taeda.bfloat16])
def test_attention_keeps_sequences_apart(causal, shape, dtype):
    size, of_batch, of_one = SHAPES[shape]
    one, two = ([p.detach().to(dtype).requires_grad_() for p in pieces_of(*size)] for _ in range(2))
    x = of_batch(nested_of(one))
    made = of_batch(attention(x, x * 2, x + 1, is_causal=causal))
    expected = []
    for piece in two:
        q = of_one(piece)
        expected.append(of_one(attention(q, q * 2, q + 1, is_causal=causal)))
    near = 0.05 if dtype is taeda.bfloat16 else 1e-6  # one head alone is computed in short numbers
    equal_pieces(made, expected, near)
    assert made.dtype is dtype
    made.sin().sum().backward()
    sum(piece.sin().sum() for piece in expected).backward()
    for a, b in zip(one, two, strict=True):
        assert taeda.allclose(a.grad, b.grad, atol=near)


def test_groups_of_heads():
    q, k = nested_of(pieces_of(4, 3)).float(), nested_of(pieces_of(2, 3)).float()
    made = attention(*(x.transpose(1, 2) for x in (q, k, k)), enable_gqa=True).transpose(1, 2)
    expected = [
        attention(*(x.transpose(0, 1) for x in (a, b, b)), enable_gqa=True).transpose(0, 1)
        for a, b in zip(q.unbind(), k.unbind(), strict=True)
    ]
    equal_pieces(made, expected)
    with pytest.raises(RuntimeError):
        attention(*(x.transpose(1, 2) for x in (q, k, k)))


def test_keys_of_other_lengths():
    q = nested_of(pieces_of(3)).float()
    keys = nested_of([piece.repeat(2, 1) for piece in pieces_of(3)]).float()
    expected = [attention(a, b, b) for a, b in zip(q.unbind(), keys.unbind(), strict=True)]
    equal_pieces(attention(q, keys, keys), expected)
    with pytest.raises(RuntimeError, match="sequences of the lengths"):
        attention(q, q, keys)
