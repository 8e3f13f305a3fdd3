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


# ---- with float64, for gradients ----

X = [[0.0, 1.0, 2.0, 0.0], [3.0, 0.0, 0.0, 0.0], [0.0, -4.0, 5.0, 6.0]]


def matrix() -> Tensor:
    """A strided matrix of 3 x 4, of which half is 0."""
    return taeda.tensor(X, dtype=taeda.float64)


def hybrid() -> Tensor:
    """3 x 2 with a dense dimension, and a place that is there twice."""
    values = taeda.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=taeda.float64)
    return taeda.sparse_coo_tensor([[0, 2, 0]], values, (3, 2))


def right(rows: int = 4) -> Tensor:
    """A strided matrix to multiply with."""
    return taeda.arange(2.0 * rows, dtype=taeda.float64).reshape(rows, 2)


# ---- by compressed rows and columns ----

NUMBERS = (taeda.sparse_csr, taeda.sparse_csc)
BLOCKS = (taeda.sparse_bsr, taeda.sparse_bsc)
LAYOUTS = (*NUMBERS, *BLOCKS)


def thirds(*size: int, dtype: taeda.dtype = taeda.float64) -> Tensor:
    """Elements of which every third is not 0, each another."""
    count = taeda.Size(size).numel()
    x = taeda.arange(1, count + 1, dtype=dtype)
    return x.masked_fill(taeda.arange(count) % 3 > 0, 0).reshape(size)


def made(x: Tensor, layout: taeda.layout) -> Tensor:
    """In this layout, blocks of 2 x 3."""
    return x.to_sparse(layout=layout, blocksize=(2, 3) if layout in BLOCKS else None)
