"""Products of nested tensors, each tensor of the batch by itself."""

from __future__ import annotations

from ragged import equal_pieces, nested_of, pieces_of, weight_of

import taeda


def test_products_of_batches():
    pieces, y = pieces_of(6), weight_of(4, 6, 2)
    x = nested_of(pieces)
    equal_pieces(x @ y, [a @ b for a, b in zip(pieces, y, strict=True)])
    made = x.transpose(1, 2) @ x
    assert taeda.allclose(made, taeda.stack([piece.T @ piece for piece in pieces]))
