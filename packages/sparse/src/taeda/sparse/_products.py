"""Products with matrices: sparse times dense by compressed rows, sparse times sparse by entries."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.doors import require_tensors

from ._compressed import Compressed
from ._convert import to_coo
from ._graph import built, entries
from ._parts import Coo
from ._rows import has_kernels, row_numbers, turned

__all__ = ["addmm", "mm", "mv", "product"]

_KERNEL = (taeda.float32, taeda.float64)
_SHORT = (taeda.float16, taeda.bfloat16)
_REDUCTIONS = ("sum", "mean", "amax", "amin")
_OTHER_WORDS = {"max": "amax", "min": "amin"}


def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None) -> Tensor:
    """The product of two matrices, at least one of them sparse.

    Both get gradients: a sparse one a sparse gradient, at the places that it has. With `reduce` ("sum",
    "mean", "amax" or "amin", or "max" and "min" for these) the products of a row are reduced in that way.

    Args:
        mat1: a matrix (n x m).
        mat2: a matrix (m x p) of the dtype of `mat1`.
        reduce: how the products are reduced; None is their sum.

    >>> a = taeda.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse()
    >>> taeda.sparse.mm(a, taeda.ones(2, 2))
    tensor([[2., 2.],
            [0., 0.]])
    """
    require_tensors("mm", mat1=mat1, mat2=mat2)
    if reduce is not None:
        return _reduced(mat1, mat2, reduce)
    if mat1.layout is taeda.strided and mat2.layout is taeda.strided:
        return taeda.mm(mat1, mat2)
    return product(mat1, mat2)


def addmm(
    mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0
) -> Tensor:
    """beta * mat + alpha * (mat1 @ mat2), with gradients as those of `mm`.

    Args:
        mat: a matrix (n x p), the term that is added.
        mat1: a matrix (n x m).
        mat2: a matrix (m x p).
        beta: the factor of `mat`; 1 by default.
        alpha: the factor of the product; 1 by default.

    >>> a = taeda.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse()
    >>> taeda.sparse.addmm(taeda.ones(2, 2), a, taeda.ones(2, 2))
    tensor([[3., 3.],
            [1., 1.]])
    """
    return taeda.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def mv(matrix: Tensor, vector: Tensor) -> Tensor:
    """A sparse matrix times a vector."""
    require_tensors("mv", matrix=matrix, vector=vector)
    if vector.dim() != 1 or vector.layout is not taeda.strided:
        raise RuntimeError(
            f"mv: wanted a strided vector, got {vector.dim()} dimensions of layout {vector.layout}"
        )
    return product(matrix, vector.unsqueeze(1)).squeeze(1)


def product(a: Tensor, b: Tensor) -> Tensor:
    """a @ b of two matrices, at least one of them sparse."""
    _check(a, b)
    if b.layout is taeda.strided:
        return _sparse_dense(a, b)
    if a.layout is taeda.strided:
        return _sparse_dense(_transposed(b), a.t()).t()
    return _sparse_sparse(a, b)


def _check(a: Tensor, b: Tensor) -> None:
    if a.dim() != 2 or b.dim() != 2:
        raise RuntimeError(f"mm: wanted two matrices, got {a.dim()} and {b.dim()} dimensions")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and "
            f"{b.shape[0]}x{b.shape[1]})"
        )
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"expected mat1 and mat2 to have the same dtype, but got {a.dtype} and {b.dtype}"
        )
    if a.device != b.device:
        raise RuntimeError(
            f"mm: Expected all tensors to be on the same device, but got {a.device} and {b.device}"
        )


def rows_of(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(offsets of rows, columns, values with history) of a matrix."""
    if x.layout is taeda.sparse_csc:
        return _rows_of_columns(x)
    if x.layout is not taeda.sparse_csr:
        x = to_coo(x)
    parts, values = entries(x)
    if values.dim() != 1:
        raise NotImplementedError(
            "a product with a sparse matrix that has dense dimensions: use to_dense().to_sparse()"
        )
    if isinstance(parts, Compressed):
        return parts.compressed, parts.plain, values
    return parts.crow(x.shape[0]), parts.indices[1], values


def _rows_of_columns(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    parts, values = entries(x)
    crow, col, order = turned(parts.compressed, parts.plain, x.shape[0])
    return crow, col, values[order]


def _transposed(x: Tensor) -> Tensor:
    """The transposed matrix, as COO."""
    parts, values = entries(to_coo(x))
    indices = taeda.stack(parts.places()[::-1])
    return built(Coo(indices, parts.values, False), values, x.shape[::-1])


def _sparse_dense(a: Tensor, b: Tensor) -> Tensor:
    crow, col, values = rows_of(a)
    if a.dtype in _SHORT:
        return _rows_times(crow, col, values.float(), b.float()).to(a.dtype)
    return _rows_times(crow, col, values, b)


def _rows_times(crow: Tensor, col: Tensor, values: Tensor, b: Tensor) -> Tensor:
    if values.dtype in _KERNEL and has_kernels(values):
        return taeda._csr_mm(crow, col, values, b)
    rows = row_numbers(crow, col.numel())
    zeros = b.new_zeros((crow.numel() - 1, b.shape[1]))
    return zeros.index_add(0, rows, values.unsqueeze(1) * b.index_select(0, col.long()))


def _sparse_sparse(a: Tensor, b: Tensor) -> Tensor:
    """By coordinates, or CSR if neither factor is that."""
    rows_a, rows_b = rows_of(a), rows_of(b)
    size = (a.shape[0], b.shape[1])
    either = taeda.sparse_coo in (a.layout, b.layout)
    kernels = a.dtype in (*_KERNEL, *_SHORT) and has_kernels(a) and not a.is_meta
    if not kernels or _is_wide(rows_a, rows_b, size[1]):
        made = _by_pairs(rows_a, rows_b, size)
        return made if either else made.to_sparse_csr()
    numbers = [x[2].float() if a.dtype in _SHORT else x[2] for x in (rows_a, rows_b)]
    values, crow, col = taeda._csr_spgemm(*rows_a[:2], numbers[0], *rows_b[:2], numbers[1], size[1])
    values = values.to(a.dtype)
    if either:
        indices = taeda.stack([row_numbers(crow), col])
        return built(Coo(indices, values.detach(), True), values, size)
    return built(Compressed(taeda.sparse_csr, crow, col, values.detach()), values, size)


def _is_wide(a: Any, b: Any, columns: int) -> bool:
    """Would a dense row of the result take more memory than the factors?"""
    return columns > (1 << 20) + 16 * int(a[1].numel() + b[1].numel())


def _by_pairs(rows_a: Any, rows_b: Any, size: tuple[int, int]) -> Tensor:
    """Each entry of the first matrix times all entries of a row of the second, by coordinates."""
    (crow_a, col_a, values_a), (crow_b, col_b, values_b) = rows_a, rows_b
    col = col_a.long()
    begins = crow_b[:-1].long()[col]
    counts = crow_b.diff().long()[col]
    entry = taeda.arange(col.numel(), device=col.device).repeat_interleave(counts)
    within = taeda.arange(entry.numel(), device=col.device) - (counts.cumsum(0) - counts)[entry]
    other = begins[entry] + within
    rows = row_numbers(crow_a)[entry]
    indices = taeda.stack([rows, col_b.long()[other]])
    values: Any = values_a[entry] * values_b[other]
    return built(Coo(indices, values.detach(), False), values, size).coalesce()


# ---- products that reduce otherwise than by a sum ----


def _reduced(a: Tensor, b: Tensor, reduce: str) -> Tensor:
    """For each row of sparse `a`, the sum, mean, largest or least of its entries times rows of `b`; 0 for a
    row without an entry.
    """
    if isinstance(reduce, str):
        reduce = _OTHER_WORDS.get(reduce, reduce)
    if reduce not in _REDUCTIONS:
        kind = RuntimeError if isinstance(reduce, str) else TypeError
        raise kind(f"sparse.mm: reduce must be one of {', '.join(_REDUCTIONS)}, but got {reduce!r}")
    if a.layout is taeda.strided or b.layout is not taeda.strided:
        raise RuntimeError(
            f"sparse.mm with reduce={reduce!r} wants a sparse and a strided matrix, but got {a.layout} and "
            f"{b.layout}"
        )
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({tuple(a.shape)} and {tuple(b.shape)})"
        )
    crow, col, values = rows_of(a)
    if reduce in ("sum", "mean"):  # no product of an entry and a row is held
        made = product(a, b)
        return made if reduce == "sum" else made / crow.diff().clamp_min(1).unsqueeze(1)
    products = values.unsqueeze(1) * b.index_select(0, col.long())
    rows = row_numbers(crow).unsqueeze(1).expand(products.shape)
    zeros = products.new_zeros((a.shape[0], b.shape[1]))
    return zeros.scatter_reduce(0, rows, products, reduce, include_self=False)
