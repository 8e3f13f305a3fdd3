"""Products and attention of nested tensors, each tensor of the batch by itself."""

from __future__ import annotations

import pytest
from ragged import equal_pieces, nested_of, pieces_of, weight_of

import taeda


def test_products_of_batches():
    pieces, y = pieces_of(6), weight_of(4, 6, 2)
    x = nested_of(pieces)
    equal_pieces(x @ y, [a @ b for a, b in zip(pieces, y, strict=True)])
    made = x.transpose(1, 2) @ x
    assert taeda.allclose(made, taeda.stack([piece.T @ piece for piece in pieces]))


@pytest.mark.parametrize("causal", [False, True])
def test_attention_keeps_sequences_apart(causal):
    attention = taeda.nn.functional.scaled_dot_product_attention
    one, two = (pieces_of(2, 4, requires_grad=True) for _ in range(2))
    x = nested_of(one).transpose(1, 2)
    made = attention(x, x * 2, x + 1, is_causal=causal).transpose(1, 2)
    expected = []
    for piece in two:
        q = piece.transpose(0, 1)
        expected.append(attention(q, q * 2, q + 1, is_causal=causal).transpose(0, 1))
    equal_pieces(made, expected)
    made.sin().sum().backward()
    taeda.stack([piece.sin().sum() for piece in expected]).sum().backward()
    for a, b in zip(one, two, strict=True):
        assert taeda.allclose(a.grad, b.grad)
