"""Methods and questions of tensors of another layout than strided; taeda-sparse answers them."""

from __future__ import annotations

from typing import Any

from .._native import core as _core
from ._method import Tensor, method, set_property


def _methods() -> Any:
    import taeda  # late: it needs Tensor complete

    sparse: Any = taeda.sparse  # upward: says what to install if it is missing
    return sparse._methods


@method
def coalesce(self: Tensor) -> Tensor:
    """The sparse tensor with its places in order, each once; itself if it is so already."""
    made: Tensor = _methods().coalesce(self)
    return made


@method
def is_coalesced(self: Tensor) -> bool:
    """Whether the places are known to be in order, each once."""
    made: bool = _methods().is_coalesced(self)
    return made


@method
def indices(self: Tensor) -> Tensor:
    """The places of a coalesced sparse tensor, (sparse dimensions, entries)."""
    made: Tensor = _methods().indices(self)
    return made


@method
def values(self: Tensor) -> Tensor:
    """The values of a sparse tensor, with gradients."""
    made: Tensor = _methods().values(self)
    return made


@method
def _indices(self: Tensor) -> Tensor:
    """The places as they are, repeated or not; the tensor's own memory."""
    made: Tensor = _methods()._indices(self)
    return made


@method
def _values(self: Tensor) -> Tensor:
    """The values as they are, outside of any graph; the tensor's own memory."""
    made: Tensor = _methods()._values(self)
    return made


@method
def _nnz(self: Tensor) -> int:
    """How many entries a sparse tensor has."""
    made: int = _methods()._nnz(self)
    return made


@method
def _coalesced_(self: Tensor, coalesced: bool) -> Tensor:
    """Claim that the places of a sparse tensor are in order, each once, or that they may not be.

    Args:
        coalesced: the claim. It is not checked.
    """
    made: Tensor = _methods()._coalesced_(self, coalesced)
    return made


@method
def crow_indices(self: Tensor) -> Tensor:
    """Where each row of a tensor by compressed rows begins."""
    made: Tensor = _methods().crow_indices(self)
    return made


@method
def col_indices(self: Tensor) -> Tensor:
    """The column of each entry of a tensor by compressed rows."""
    made: Tensor = _methods().col_indices(self)
    return made


@method
def ccol_indices(self: Tensor) -> Tensor:
    """Where each column of a tensor by compressed columns begins."""
    made: Tensor = _methods().ccol_indices(self)
    return made


@method
def row_indices(self: Tensor) -> Tensor:
    """The row of each entry of a tensor by compressed columns."""
    made: Tensor = _methods().row_indices(self)
    return made


@method
def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """The elements at the places of a sparse `mask`, and no others.

    Args:
        mask: a sparse tensor of this one's shape; of it only the places count.
    """
    made: Tensor = _methods().sparse_mask(self, mask)
    return made


@method
def to_mkldnn(self: Tensor, dtype: Any = None) -> Tensor:
    """RuntimeError: there is no layout of MKL-DNN here, as in a PyTorch that was built without it.

    Kernels read the strided layout as it is.

    Args:
        dtype: nothing depends on it: the call is always refused (default: None).
    """
    raise RuntimeError(
        "to_mkldnn: there is no MKL-DNN layout in this build. Kernels read strided tensors as they are: "
        "leave this call out, or ask backends.mkldnn.is_available() first"
    )


@method
def to_sparse_coo(self: Tensor) -> Tensor:
    """By coordinates, of any layout."""
    made: Tensor = _methods().to_sparse_coo(self)
    return made


@method
def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """By compressed rows, of matrices of any layout.

    Args:
        dense_dim: how many of the last dimensions stay dense; None leaves it to the tensor: what it has
            by its layout, 0 of a strided one.
    """
    made: Tensor = _methods().to_sparse_csr(self, dense_dim)
    return made


@method
def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """By compressed columns, of matrices of any layout.

    Args:
        dense_dim: how many of the last dimensions stay dense; None leaves it to the tensor: what it has
            by its layout, 0 of a strided one.
    """
    made: Tensor = _methods().to_sparse_csc(self, dense_dim)
    return made


@method
def to_sparse_bsr(self: Tensor, blocksize: tuple[int, int], dense_dim: int | None = None) -> Tensor:
    """By compressed rows of blocks of `blocksize` (rows, columns), of matrices of any layout.

    Args:
        blocksize: rows and columns of a block, which divide those of the matrices.
        dense_dim: how many of the last dimensions stay dense; None leaves it to the tensor: what it has
            by its layout, 0 of a strided one.
    """
    made: Tensor = _methods().to_sparse_bsr(self, blocksize, dense_dim)
    return made


@method
def to_sparse_bsc(self: Tensor, blocksize: tuple[int, int], dense_dim: int | None = None) -> Tensor:
    """By compressed columns of blocks of `blocksize` (rows, columns), of matrices of any layout.

    Args:
        blocksize: rows and columns of a block, which divide those of the matrices.
        dense_dim: how many of the last dimensions stay dense; None leaves it to the tensor: what it has
            by its layout, 0 of a strided one.
    """
    made: Tensor = _methods().to_sparse_bsc(self, blocksize, dense_dim)
    return made


@method
def sparse_resize_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Another size of a tensor by coordinates, in place; what has entries can only grow.

    Args:
        size: the sparse, then the dense sizes.
        sparse_dim: how many leading dimensions are sparse.
        dense_dim: how many of the last dimensions are dense; both together are the length of
            `size`.
    """
    made: Tensor = _methods().sparse_resize_(self, size, sparse_dim, dense_dim)
    return made


@method
def sparse_resize_and_clear_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Another size of a tensor by coordinates, in place, without entries.

    Args:
        size: the sparse, then the dense sizes.
        sparse_dim: how many leading dimensions are sparse.
        dense_dim: how many of the last dimensions are dense; both together are the length of
            `size`.
    """
    made: Tensor = _methods().sparse_resize_and_clear_(self, size, sparse_dim, dense_dim)
    return made


@method
def smm(self: Tensor, mat: Tensor) -> Tensor:
    """The product of a sparse matrix and a strided matrix `mat`, as a sparse one.

    Args:
        mat: the strided right factor, with as many rows as this matrix has columns.
    """
    made: Tensor = _methods().smm(self, mat)
    return made


@method
def sspaddmm(
    self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """beta * self + alpha * (mat1 @ mat2) of two sparse matrices and a strided one, as a sparse one.

    Args:
        mat1: the sparse left factor.
        mat2: the strided right factor.
        beta: what this matrix is multiplied by; 1 by default.
        alpha: what the product is multiplied by; 1 by default.
    """
    made: Tensor = _methods().sspaddmm(self, mat1, mat2, beta=beta, alpha=alpha)
    return made


@method
def to_sparse(
    self: Tensor,
    sparse_dim: int | None = None,
    *,
    layout: Any = None,
    blocksize: Any = None,
    dense_dim: int | None = None,
) -> Tensor:
    """A sparse tensor of the elements that are not 0, `sparse_dim` leading dimensions of it sparse.

    Args:
        sparse_dim: how many leading dimensions are sparse, from 1 to all of them; of a compressed
            layout 2. None (the default) for all that `dense_dim` leaves.
        layout: taeda.sparse_coo, or for matrices and batches of them sparse_csr, sparse_csc,
            sparse_bsr or sparse_bsc; None (the default) for sparse_coo.
        blocksize: (rows, columns) of the blocks of sparse_bsr and sparse_bsc, which divide the sizes
            of the matrix; None (the default) for the other layouts.
        dense_dim: how many dimensions at the end stay dense; None (the default) for none, or for
            those that `sparse_dim` leaves.
    """
    made: Tensor = _methods().to_sparse(
        self, sparse_dim, layout=layout, blocksize=blocksize, dense_dim=dense_dim
    )
    return made


@method
def dense_dim(self: Tensor) -> int:
    """How many dimensions are dense: of a strided tensor all."""
    if self.layout is _core.strided:
        return self.dim()
    return int(_methods().dense_dim(self))


@method
def sparse_dim(self: Tensor) -> int:
    """How many dimensions are sparse: of a strided tensor 0."""
    return 0 if self.layout is _core.strided else int(_methods().sparse_dim(self))


@method
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: Any = None) -> Tensor:
    """The strided tensor of the same elements: itself if it is one; in another dtype if one is given.

    Args:
        dtype: of the result; None keeps it.
        masked_grad: None or True: the gradient of a sparse tensor is sparse, at its places. False is
            refused there with NotImplementedError; of a strided tensor nothing depends on it.
    """
    made = self if self.layout is _core.strided else _methods().to_dense(self, masked_grad)
    return made if dtype is None else made.to(dtype)


set_property(
    "is_sparse", lambda self: self.layout is _core.sparse_coo, "True for the layout sparse_coo."
)
set_property(
    "is_sparse_csr", lambda self: self.layout is _core.sparse_csr, "True for the layout sparse_csr."
)
