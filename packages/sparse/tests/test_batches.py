"""Products of batches of matrices."""

from __future__ import annotations

import pytest
from sparse_tensors import BLOCKS, LAYOUTS, right, thirds

import taeda


@pytest.mark.parametrize("layout", LAYOUTS)
def test_products_of_batches(layout):
    x, dense = thirds(4, 6), right(6)
    batches = taeda.stack([x, 2 * x]).to_sparse(
        layout=layout, blocksize=(2, 3) if layout in BLOCKS else None
    )
    factors = taeda.stack([dense, dense + 1])
    assert taeda.allclose(taeda.bmm(batches, factors), taeda.bmm(batches.to_dense(), factors))
    assert taeda.allclose(batches @ factors, batches.to_dense() @ factors)
    with pytest.raises(RuntimeError, match="batches of matrices that fit"):
        taeda.bmm(batches, batches.to_dense())
