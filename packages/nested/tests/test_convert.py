"""Nested tensors out of padded ones and back."""

from __future__ import annotations

from ragged import nested_of, pieces_of

import taeda
from taeda import nested


def test_padded():
    pieces = pieces_of(2, requires_grad=True)
    made = nested.to_padded_tensor(nested_of(pieces), 7.0)
    assert made.shape == (4, 5, 2)
    for row, piece in zip(made, pieces, strict=True):
        assert taeda.equal(row[: len(piece)], piece) and bool((row[len(piece) :] == 7).all())
    made.sum().backward()
    assert all(bool((piece.grad == 1).all()) for piece in pieces)
    larger = nested.to_padded_tensor(nested_of(pieces), 0, (5, 6, 3))
    assert larger.shape == (5, 6, 3) and not larger[4].any()
