"""A sparse matrix of diagonals."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.doors import require_tensors

from ._compress import to_compressed
from ._graph import built
from ._parts import Coo

__all__ = ["spdiags"]


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Any, layout: Any = None) -> Tensor:
    """A matrix that has rows of `diagonals` on its diagonals: element j of a row stands in column j.

    Args:
        diagonals: a matrix (diagonals x length), or a vector if there is one diagonal.
        offsets: int64, one for each diagonal, each once: 0 for the main one, above 0 to the right
            of it, below 0 to the left.
        shape: rows and columns of the result.
        layout: sparse_coo (None), sparse_csr or sparse_csc.

    >>> import taeda
    >>> taeda.sparse.spdiags(taeda.tensor([[1.0, 2.0, 3.0]]), taeda.tensor([1]), (3, 3)).to_dense()
    tensor([[0., 2., 0.],
            [0., 0., 3.],
            [0., 0., 0.]])
    """
    require_tensors("spdiags", diagonals=diagonals, offsets=offsets)
    rows = diagonals.unsqueeze(0) if diagonals.dim() == 1 else diagonals
    at = offsets.reshape(1) if offsets.dim() == 0 else offsets
    _check(rows, at, shape, layout)
    height, width = (int(n) for n in shape)
    columns = taeda.arange(rows.shape[1], device=rows.device).expand(rows.shape)
    lines = columns - at.to(columns.device).unsqueeze(1)
    kept = (lines >= 0) & (lines < height) & (columns < width)
    indices = taeda.stack([lines[kept], columns[kept]])
    values = rows[kept]
    made = built(Coo(indices, values.detach(), False), values, (height, width)).coalesce()
    return made if layout in (None, taeda.sparse_coo) else to_compressed(made, layout)


def _check(rows: Tensor, at: Tensor, shape: Any, layout: Any) -> None:
    if len(shape) != 2:
        raise ValueError(f"Output shape must be 2d, but got {tuple(shape)}")
    if rows.dim() != 2 or at.dim() != 1 or at.numel() != rows.shape[0]:
        raise ValueError(
            f"Number of diagonals ({rows.shape[0] if rows.dim() else 0}) does not match the number of "
            f"offsets ({at.numel()}), or diagonals are no vector or matrix"
        )
    if at.dtype is not taeda.int64:
        raise ValueError(f"Offset Tensor must have dtype int64, but got {at.dtype}")
    if at.unique().numel() != at.numel():
        raise RuntimeError(f"Offset tensor contains duplicate values: {at.tolist()}")
    if layout not in (None, taeda.sparse_coo, taeda.sparse_csr, taeda.sparse_csc):
        raise ValueError(
            f"Only output layouts (Sparse, SparseCsr, SparseCsc) are supported, got {layout}"
        )
