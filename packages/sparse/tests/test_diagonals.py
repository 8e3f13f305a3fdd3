"""Matrices of diagonals."""

from __future__ import annotations

import pytest

import taeda


def test_diagonals():
    rows = taeda.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    made = taeda.sparse.spdiags(rows, taeda.tensor([1, -2]), (4, 2), layout=taeda.sparse_csr)
    assert made.to_dense().tolist() == [[0, 2], [0, 0], [4, 0], [0, 5]]
    for offsets, error, fact in (
        ([0, 0], RuntimeError, "duplicate"),
        ([0], ValueError, "Number of diagonals"),
    ):
        with pytest.raises(error, match=fact):
            taeda.sparse.spdiags(rows, taeda.tensor(offsets), (3, 3))
