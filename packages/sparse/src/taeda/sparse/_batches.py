"""Products of batches of matrices: one product of a matrix that has the batches along its diagonal."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._convert import to_coo
from ._graph import built, entries
from ._parts import Coo
from ._products import product

__all__ = ["batch_product"]


def batch_product(a: Tensor, b: Tensor) -> Any:
    """a @ b of batches of matrices, `a` sparse and `b` strided."""
    if a.layout is taeda.strided or b.layout is not taeda.strided:
        return NotImplemented
    if a.dim() != 3 or b.dim() != 3 or a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise RuntimeError(
            f"bmm: wanted batches of matrices that fit, got {tuple(a.shape)} and {tuple(b.shape)}"
        )
    made = product(_diagonal(a), b.reshape(-1, b.shape[2]))
    return made.reshape(a.shape[0], a.shape[1], b.shape[2])


def _diagonal(x: Tensor) -> Tensor:
    """The matrix of all batches, each right below the last one."""
    x = to_coo(x)
    parts, values = entries(x)
    if parts.indices.size(0) != 3:
        raise NotImplementedError(
            "bmm: a sparse tensor with dense dimensions: use to_dense().to_sparse()"
        )
    batches, rows, columns = x.shape
    batch, row, col = parts.places()
    indices = taeda.stack([batch * rows + row, batch * columns + col])
    made = Coo(indices, parts.values, True)
    return built(made, values, (batches * rows, batches * columns))
