"""Nested tensors along a dimension, the ragged one too."""

from __future__ import annotations

from ragged import nested_of, pieces_of

import taeda


def test_reductions_of_the_ragged_dimension():
    pieces = pieces_of(6)
    x = nested_of(pieces)
    assert taeda.allclose(x.sum(1), taeda.stack([piece.sum(0) for piece in pieces]))
    assert taeda.allclose(x.sum(), taeda.cat(pieces).sum())
    assert taeda.allclose(x.mean((1, 2))[0], pieces[0].mean())
