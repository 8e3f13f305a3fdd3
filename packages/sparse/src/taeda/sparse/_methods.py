"""Methods of tensors that have to do with sparse layouts; `Tensor` calls them by name."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from . import _convert
from ._compress import to_compressed
from ._compressed import COMPRESSED
from ._graph import at_places, built, entries
from ._more_products import smm, sspaddmm
from ._parts import Coo, parts_of, require
from ._resize import sparse_resize_, sparse_resize_and_clear_

__all__ = [
    "_coalesced_", "_indices", "_nnz", "_values", "ccol_indices", "coalesce", "col_indices",
    "crow_indices", "dense_dim", "indices", "is_coalesced", "new", "row_indices", "smm", "sparse_dim",
    "sparse_mask", "sparse_resize_", "sparse_resize_and_clear_", "sspaddmm", "to_dense",
    "to_sparse", "to_sparse_bsc", "to_sparse_bsr", "to_sparse_coo", "to_sparse_csc",
    "to_sparse_csr", "values",
]  # fmt: skip

_COO = (taeda.sparse_coo,)
_ROWS = (taeda.sparse_csr, taeda.sparse_bsr)
_COLUMNS = (taeda.sparse_csc, taeda.sparse_bsc)


def is_coalesced(self: Tensor) -> bool:
    """Whether the places of a COO tensor are known to be in order, each once."""
    return bool(require(self, _COO, "is_coalesced").is_coalesced)


def coalesce(self: Tensor) -> Tensor:
    """The tensor with its places in order, each once; itself if it is so already."""
    if require(self, _COO, "coalesce").is_coalesced:
        return self
    parts, values = entries(self)
    return built(parts, values, self.shape)


def new(self: Tensor, args: tuple[Any, ...], device: Any) -> Tensor:
    """`x.new(indices, values, size)`; of sizes, or of nothing, a tensor without entries."""
    if len(args) >= 2 and not isinstance(args[0], int):
        return taeda.sparse_coo_tensor(*args, device=device)
    sizes = args[0] if len(args) == 1 and not isinstance(args[0], int) else args or (0,)
    none = taeda.empty(len(sizes), 0, dtype=taeda.int64), taeda.empty(0, dtype=self.dtype)
    return taeda.sparse_coo_tensor(*none, tuple(sizes), device=device)


def _coalesced_(self: Tensor, coalesced: bool) -> Tensor:
    """Claim that the places are in order, each once, or take that back, as who has sorted them may."""
    parts: Coo = require(self, _COO, "_coalesced_")
    parts.is_coalesced = bool(coalesced)
    parts._crow = None  # it was made of places in order
    return self


def _require_coalesced(self: Tensor, what: str) -> Coo:
    parts: Coo = require(self, _COO, what)
    if not parts.is_coalesced:
        raise RuntimeError(
            f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first"
        )
    return parts


def indices(self: Tensor) -> Tensor:
    """The places of a coalesced COO tensor, (sparse dimensions, entries)."""
    return _require_coalesced(self, "indices").indices.detach()


def values(self: Tensor) -> Tensor:
    """The values, with gradients; COO tensors have to be coalesced."""
    parts = parts_of(self)
    if parts is None:
        raise RuntimeError(f"values expected a sparse tensor but got one of layout {self.layout}")
    if isinstance(parts, Coo):
        _require_coalesced(self, "values")
    found = entries(self)[1]
    return found.detach() if found is parts.values else found


def _indices(self: Tensor) -> Tensor:
    """The places as they are, repeated or not; the tensor's own memory."""
    found: Tensor = require(self, _COO, "_indices").indices
    return found.detach()


def _values(self: Tensor) -> Tensor:
    """The values as they are, outside of any graph; the tensor's own memory."""
    found: Tensor = require(self, _COO, "_values").values
    return found.detach()


def _nnz(self: Tensor) -> int:
    """How many entries there are; in each batch, where there are batches."""
    parts = parts_of(self)
    if parts is None:
        raise RuntimeError(f"_nnz expected a sparse tensor but got one of layout {self.layout}")
    return int(parts.values.size(0) if isinstance(parts, Coo) else parts.plain.shape[-1])


def crow_indices(self: Tensor) -> Tensor:
    """Where each row, or row of blocks, of a tensor by compressed rows begins."""
    found: Tensor = require(self, _ROWS, "crow_indices").compressed
    return found.detach()


def col_indices(self: Tensor) -> Tensor:
    """The column of each entry of a tensor by compressed rows."""
    found: Tensor = require(self, _ROWS, "col_indices").plain
    return found.detach()


def ccol_indices(self: Tensor) -> Tensor:
    """Where each column, or column of blocks, of a tensor by compressed columns begins."""
    found: Tensor = require(self, _COLUMNS, "ccol_indices").compressed
    return found.detach()


def row_indices(self: Tensor) -> Tensor:
    """The row of each entry of a tensor by compressed columns."""
    found: Tensor = require(self, _COLUMNS, "row_indices").plain
    return found.detach()


def sparse_dim(self: Tensor) -> int:
    """How many dimensions indices name: two by compressed rows or columns."""
    parts = parts_of(self)
    return int(parts.indices.size(0)) if isinstance(parts, Coo) else 2


def dense_dim(self: Tensor) -> int:
    """How many dimensions each value has."""
    parts = parts_of(self)
    batch = 0 if isinstance(parts, Coo) else len(parts.batch)
    return int(self.dim() - batch - sparse_dim(self))


def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """The elements at the places of `mask`, and no others."""
    parts = parts_of(mask)
    if parts is None:
        raise RuntimeError(f"sparse_mask: the mask must be sparse, but its layout is {mask.layout}")
    if self.shape != mask.shape:
        raise RuntimeError(
            "sparse_mask(): operands have incompatible sizes; self has size "
            f"{list(self.shape)} but mask has size {list(mask.shape)}"
        )
    found = at_places(self, parts)
    return built(parts, found, self.shape)


def to_dense(self: Tensor, masked_grad: bool | None = None) -> Tensor:
    """The strided tensor of the same elements. The gradient is sparse, at the places that there are."""
    if masked_grad is False:
        raise NotImplementedError(
            "to_dense: masked_grad=False asks for a dense gradient of a sparse tensor. Leave it away: "
            "the gradient is sparse, at the places of the tensor"
        )
    return _convert.to_dense(self)


def to_sparse(
    self: Tensor,
    sparse_dim: int | None = None,
    *,
    layout: Any = None,
    blocksize: Any = None,
    dense_dim: int | None = None,
) -> Tensor:
    """A sparse tensor of the elements that are not 0; `sparse_dim` leading dimensions of it are sparse. By
    coordinates, if no `layout` is given.
    """
    if layout in COMPRESSED:
        if sparse_dim not in (None, 2):
            raise RuntimeError(f"to_sparse: {layout} has 2 sparse dimensions, not {sparse_dim}")
        return to_compressed(self, layout, blocksize, dense_dim)
    if blocksize is not None or layout not in (None, taeda.sparse_coo):
        raise RuntimeError(
            f"to_sparse: layout={layout} with blocksize={blocksize} is no sparse layout. There are "
            "sparse_coo, sparse_csr, sparse_csc, and with a blocksize sparse_bsr and sparse_bsc"
        )
    if dense_dim is not None:
        if sparse_dim is not None and sparse_dim + dense_dim != self.dim():
            raise RuntimeError(
                f"to_sparse: {sparse_dim} sparse and {dense_dim} dense dimensions are not the "
                f"{self.dim()} of the tensor"
            )
        sparse_dim = self.dim() - dense_dim
    return _convert.to_coo(self, sparse_dim)


def to_sparse_coo(self: Tensor) -> Tensor:
    """COO, of any layout."""
    return _convert.to_coo(self)


def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """CSR, of matrices of any layout, in batches or not, with dense dimensions or not."""
    return to_compressed(self, taeda.sparse_csr, None, dense_dim)


def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """CSC, of matrices of any layout, in batches or not, with dense dimensions or not."""
    return to_compressed(self, taeda.sparse_csc, None, dense_dim)


def to_sparse_bsr(self: Tensor, blocksize: Any, dense_dim: int | None = None) -> Tensor:
    """BSR with blocks of these rows and columns, of matrices of any layout."""
    return to_compressed(self, taeda.sparse_bsr, blocksize, dense_dim)


def to_sparse_bsc(self: Tensor, blocksize: Any, dense_dim: int | None = None) -> Tensor:
    """BSC with blocks of these rows and columns, of matrices of any layout."""
    return to_compressed(self, taeda.sparse_bsc, blocksize, dense_dim)
