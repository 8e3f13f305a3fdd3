"""Elementwise operators of nested tensors beside strided ones."""

from __future__ import annotations

import pytest
from ragged import equal_pieces, nested_of, pieces_of

import taeda


def test_strided_tensors_beside():
    pieces = pieces_of(6)
    x, rows = nested_of(pieces), taeda.arange(24.0, dtype=taeda.float64).reshape(4, 1, 6)
    equal_pieces(x + rows, [piece + row for piece, row in zip(pieces, rows, strict=True)])
    equal_pieces(x + rows[0, 0], [piece + rows[0, 0] for piece in pieces])
    with pytest.raises(RuntimeError, match="has the size 1 in place of j"):
        x + taeda.ones(9, 6)
