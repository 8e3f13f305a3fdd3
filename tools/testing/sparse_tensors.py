"""Sparse tensors for tests."""

from __future__ import annotations

import taeda
from taeda import Tensor

INDICES = [[0, 1, 1, 1], [2, 0, 2, 0]]
VALUES = [3.0, 4.0, 5.0, 1.0]
DENSE = [[0.0, 0.0, 3.0], [5.0, 0.0, 5.0]]


def coo(dtype=taeda.float32) -> Tensor:
    """A matrix of 2 x 3 with a place that is there twice."""
    return taeda.sparse_coo_tensor(INDICES, taeda.tensor(VALUES, dtype=dtype), (2, 3))


def csr(dtype=taeda.float32) -> Tensor:
    """The same by rows."""
    return coo(dtype).to_sparse_csr()


BOTH = {"coo": coo, "csr": csr}
