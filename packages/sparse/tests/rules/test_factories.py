"""Tensors without entries, of a layout that is asked for."""

from __future__ import annotations

import pytest
from sparse_tensors import matrix

import taeda


@pytest.mark.parametrize("layout", [taeda.sparse_coo, taeda.sparse_csr, taeda.sparse_csc])
def test_factories_with_a_layout(layout):
    for made in (
        taeda.zeros(2, 3, layout=layout, dtype=taeda.float64),
        taeda.empty(2, 3, layout=layout, dtype=taeda.float64),
        matrix().to_sparse(layout=layout).new_zeros(2, 3),
        taeda.zeros_like(matrix()[:2, :3], layout=layout),
    ):
        assert made.layout is layout and made._nnz() == 0 and made.shape == (2, 3)
        assert made.dtype is taeda.float64
    assert taeda.zeros_like(matrix().to_sparse(), layout=taeda.strided).layout is taeda.strided
    with pytest.raises(NotImplementedError, match="ones"):
        taeda.ones(2, 3, layout=layout)
    with pytest.raises(RuntimeError, match="negative"):
        taeda.zeros(-1, 3, layout=layout)
