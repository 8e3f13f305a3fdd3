"""Constructors of compressed layouts: what they refuse."""

from __future__ import annotations

import pytest
from sparse_tensors import made, thirds

import taeda


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (([0, 1, 2], [0, 5], [1.0, 2.0], (4, 2)), "row_indices must be from 0 to 3"),
        (([0, 2, 1], [0, 1], [1.0, 2.0], (4, 2)), "ccol_indices must rise from 0 to 2"),
        (([0, 2, 2], [1, 1], [1.0, 2.0], (4, 2)), "rise within each column"),
        (([0, 1, 2], [0, 1], [1.0], (4, 2)), "same number of elements"),
        (([0, 1, 2], [0, 1], [1.0, 2.0], (4, 3)), r"make a tensor of the size \(rows, 2\)"),
    ],
)
def test_refused_columns(arguments, fact):
    with pytest.raises(RuntimeError, match=fact):
        taeda.sparse_csc_tensor(*arguments)


def test_refused_blocks():
    with pytest.raises(RuntimeError, match="are blocks"):
        taeda.sparse_bsr_tensor([0, 1], [0], [1.0], (2, 2))
    with pytest.raises(RuntimeError, match="do not fill a matrix of 4 x 6"):
        thirds(4, 6).to_sparse_bsr((3, 3))
    with pytest.raises(RuntimeError, match="two sizes"):
        thirds(4, 6).to_sparse_bsr(2)
    with pytest.raises(RuntimeError, match="layout must be"):
        taeda.sparse_compressed_tensor([0, 1], [0], [1.0])
    with pytest.raises(RuntimeError, match="expected a tensor of layout"):
        made(thirds(4, 6), taeda.sparse_csc).crow_indices()
