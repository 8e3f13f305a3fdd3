"""Constructors of tensors by compressed rows or columns: indices and values that were given, checked."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._compressed import BLOCKED, BY_ROWS, COMPRESSED, Compressed, check_compressed, names_of
from ._invariants import check_sparse_tensor_invariants
from ._make import finish, given, index_tensor, refuse_pinned

__all__ = [
    "sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor", "sparse_csc_tensor",
    "sparse_csr_tensor",
]  # fmt: skip


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor by compressed rows or columns, of the layout `layout`, which must be given.

    Args:
        compressed_indices: where each row (each column, each row or column of blocks) begins:
            (batches, rows + 1), int64 or int32.
        plain_indices: the column (the row) of each entry, rising within a row: (batches, entries).
        values: (batches, entries, dense dimensions), with the rows and columns of a block after the entries
            where the layout is sparse_bsr or sparse_bsc. Gradients flow to them if they require them.
        size: of the tensor; None (the default) for the smallest that has all places.
        dtype, device: of the values; None (the default) for that of `values`.
        layout: sparse_csr, sparse_csc, sparse_bsr or sparse_bsc (default: None).
        requires_grad: whether the result is a leaf that gets a gradient (default: False).
        check_invariants: whether both indices must be int32, or both int64; None asks
            `check_sparse_tensor_invariants`. What they say is checked always.
        pin_memory: only False.

    RuntimeError for indices that are out of bounds or do not rise, and for shapes that do not fit.

    >>> import taeda
    >>> x = taeda.sparse_compressed_tensor([0, 1, 2], [1, 0], [3.0, 4.0], (2, 2), layout=taeda.sparse_csc)
    >>> x.to_dense()
    tensor([[0., 4.],
            [3., 0.]])
    """
    if layout not in COMPRESSED:
        raise RuntimeError(
            "sparse_compressed_tensor: layout must be sparse_csr, sparse_csc, sparse_bsr or sparse_bsc, "
            f"but got {layout}"
        )
    refuse_pinned(pin_memory)
    first, second = names_of(layout)
    checks = check_sparse_tensor_invariants.is_enabled()
    if checks if check_invariants is None else check_invariants:
        _check_dtypes(layout, compressed_indices, plain_indices)
    found = given(values, dtype, device)
    wanted = _index_dtype(compressed_indices, plain_indices)
    compressed = index_tensor(compressed_indices, first, wanted, device or found.device)
    plain = index_tensor(plain_indices, second, wanted, device or found.device)
    _check_forms(layout, compressed, plain, found)
    parts = Compressed(layout, compressed, plain, found)
    size = _size(parts, size)
    check_compressed(parts, size)
    return finish(parts, found, size, requires_grad, not requires_grad)


def _index_dtype(*indices: Any) -> Any:
    dtypes = {x.dtype for x in indices if isinstance(x, Tensor)}
    return taeda.int32 if dtypes == {taeda.int32} else taeda.int64


def _check_dtypes(layout: Any, *indices: Any) -> None:
    first, second = names_of(layout)
    dtypes = [x.dtype if isinstance(x, Tensor) else taeda.int64 for x in indices]
    if dtypes[0] is not dtypes[1]:
        raise RuntimeError(
            f"{first} and {second} must have the same dtype, but got {dtypes[0]} and {dtypes[1]}"
        )
    if dtypes[0] not in (taeda.int32, taeda.int64):
        raise RuntimeError(
            f"{first} and {second} must be taeda.int32 or taeda.int64, but got {dtypes[0]}"
        )


def _check_forms(layout: Any, compressed: Tensor, plain: Tensor, values: Tensor) -> None:
    first, second = names_of(layout)
    if compressed.dim() < 1 or plain.dim() != compressed.dim():
        raise RuntimeError(
            f"{first} and {second} must have the same number of dimensions, at least 1, but have "
            f"{compressed.dim()} and {plain.dim()}"
        )
    if not compressed.shape[-1]:
        what = "rows" if layout in BY_ROWS else "columns"
        raise RuntimeError(f"{first}.shape[-1] must be the number of {what} + 1, but it is 0")
    if compressed.shape[:-1] != plain.shape[:-1]:
        raise RuntimeError(
            f"{first} and {second} must have the same batches, but have {tuple(compressed.shape[:-1])} "
            f"and {tuple(plain.shape[:-1])}"
        )
    if values.shape[: plain.dim()] != plain.shape:
        raise RuntimeError(
            f"{second} and values must have the same number of elements, batch by batch, but got "
            f"{tuple(plain.shape)} and {tuple(values.shape)}"
        )
    if layout in BLOCKED and (
        values.dim() < plain.dim() + 2 or 0 in values.shape[plain.dim() : plain.dim() + 2]
    ):
        raise RuntimeError(
            f"values of {layout} are blocks: (batches, entries, rows, columns, dense dimensions), but "
            f"got the shape {tuple(values.shape)}"
        )


def _size(parts: Compressed, size: Any) -> tuple[int, ...]:
    height, width = parts.blocksize
    at = parts.plain.dim()
    dense = tuple(parts.values.shape[at + 2 * (parts.layout in BLOCKED) :])
    majors = parts.compressed.shape[-1] - 1
    if size is None and parts.plain.is_meta:
        raise RuntimeError("indices on meta have no numbers to take a size from: give size")
    most = int(parts.plain.amax()) + 1 if size is None and parts.plain.numel() else 0
    by_rows = parts.layout in BY_ROWS
    if size is None:
        rows, columns = (majors, most) if by_rows else (most, majors)
        return (*parts.batch, rows * height, columns * width, *dense)
    size = tuple(int(n) for n in size)
    batch = len(parts.batch)
    major = majors * (height if by_rows else width)
    fits = len(size) == batch + 2 + len(dense) and min(size, default=0) >= 0
    fits = fits and size[:batch] == parts.batch and size[batch + 2 :] == dense
    fits = fits and size[batch + (not by_rows)] == major
    fits = fits and size[batch] % height == 0 and size[batch + 1] % width == 0
    if not fits:
        form = f"{major}, columns" if by_rows else f"rows, {major}"
        wanted = ", ".join([*map(str, parts.batch), form, *map(str, dense)])
        raise RuntimeError(
            f"{names_of(parts.layout)[0]} of the shape {tuple(parts.compressed.shape)} and values of the "
            f"shape {tuple(parts.values.shape)} make a tensor of the size ({wanted}), but got {size}"
        )
    return size


def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """A matrix by rows: row r has the values from crow_indices[r] to before crow_indices[r + 1], in the
    columns `col_indices`, which rise.

    The arguments are those of `sparse_compressed_tensor`, with `crow_indices` as its compressed and
    `col_indices` as its plain indices.

    Args:
        crow_indices: (batches, rows + 1), int64 or int32: where each row begins, and the end.
        col_indices: (batches, entries): the column of each entry.
        values: (batches, entries, dense dimensions).
        size: (batches, rows, columns, dense dimensions); None takes the fewest columns that have
            all places.
        dtype, device: of the values; None (the default) for that of `values`.
        requires_grad: whether the result is a leaf that gets a gradient; False by default.
        check_invariants: whether both indices must be int32, or both int64; None asks
            `check_sparse_tensor_invariants`. What they say is checked always.
        pin_memory: only False; NotImplementedError for True.

    >>> import taeda
    >>> taeda.sparse_csr_tensor([0, 1, 2], [2, 0], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    return sparse_compressed_tensor(
        crow_indices,
        col_indices,
        values,
        size,
        dtype=dtype,
        layout=taeda.sparse_csr,
        device=device,
        requires_grad=requires_grad,
        check_invariants=check_invariants,
        pin_memory=pin_memory,
    )


def sparse_csc_tensor(
    ccol_indices: Any,
    row_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """A matrix by columns: column c has the values from ccol_indices[c] to before ccol_indices[c + 1], in the
    rows `row_indices`, which rise.

    The arguments are those of `sparse_compressed_tensor`, with `ccol_indices` as its compressed and
    `row_indices` as its plain indices.

    Args:
        ccol_indices: (batches, columns + 1), int64 or int32: where each column begins, and the end.
        row_indices: (batches, entries): the row of each entry.
        values: (batches, entries, dense dimensions).
        size: (batches, rows, columns, dense dimensions); None takes the fewest rows that have all
            places.
        dtype, device: of the values; None (the default) for that of `values`.
        requires_grad: whether the result is a leaf that gets a gradient; False by default.
        check_invariants: whether both indices must be int32, or both int64; None asks
            `check_sparse_tensor_invariants`. What they say is checked always.
        pin_memory: only False; NotImplementedError for True.

    >>> import taeda
    >>> taeda.sparse_csc_tensor([0, 1, 2], [1, 0], [3.0, 4.0], (3, 2)).to_dense()
    tensor([[0., 4.],
            [3., 0.],
            [0., 0.]])
    """
    return sparse_compressed_tensor(
        ccol_indices,
        row_indices,
        values,
        size,
        dtype=dtype,
        layout=taeda.sparse_csc,
        device=device,
        requires_grad=requires_grad,
        check_invariants=check_invariants,
        pin_memory=pin_memory,
    )


def sparse_bsr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """A matrix by rows of blocks: `values` are blocks of equal sizes, and indices count blocks.

    The arguments are those of `sparse_compressed_tensor`, with `crow_indices` as its compressed and
    `col_indices` as its plain indices.

    Args:
        crow_indices: (batches, rows of blocks + 1), int64 or int32: where each begins, and the end.
        col_indices: (batches, blocks): the column of blocks of each.
        values: (batches, blocks, a block's rows, a block's columns, dense dimensions).
        size: (batches, rows, columns, dense dimensions), multiples of a block's; None takes the
            fewest columns.
        dtype, device: of the values; None (the default) for that of `values`.
        requires_grad: whether the result is a leaf that gets a gradient; False by default.
        check_invariants: whether both indices must be int32, or both int64; None asks
            `check_sparse_tensor_invariants`. What they say is checked always.
        pin_memory: only False; NotImplementedError for True.

    >>> import taeda
    >>> taeda.sparse_bsr_tensor([0, 1], [1], [[[1.0, 2.0], [3.0, 4.0]]], (2, 4)).to_dense()
    tensor([[0., 0., 1., 2.],
            [0., 0., 3., 4.]])
    """
    return sparse_compressed_tensor(
        crow_indices,
        col_indices,
        values,
        size,
        dtype=dtype,
        layout=taeda.sparse_bsr,
        device=device,
        requires_grad=requires_grad,
        check_invariants=check_invariants,
        pin_memory=pin_memory,
    )


def sparse_bsc_tensor(
    ccol_indices: Any,
    row_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """A matrix by columns of blocks: `values` are blocks of equal sizes, and indices count blocks.

    The arguments are those of `sparse_compressed_tensor`, with `ccol_indices` as its compressed and
    `row_indices` as its plain indices.

    Args:
        ccol_indices: (batches, columns of blocks + 1), int64 or int32: where each begins, and the
            end.
        row_indices: (batches, blocks): the row of blocks of each.
        values: (batches, blocks, a block's rows, a block's columns, dense dimensions).
        size: (batches, rows, columns, dense dimensions), multiples of a block's; None takes the
            fewest rows.
        dtype, device: of the values; None (the default) for that of `values`.
        requires_grad: whether the result is a leaf that gets a gradient; False by default.
        check_invariants: whether both indices must be int32, or both int64; None asks
            `check_sparse_tensor_invariants`. What they say is checked always.
        pin_memory: only False; NotImplementedError for True.

    >>> import taeda
    >>> taeda.sparse_bsc_tensor([0, 0, 1], [0], [[[1.0, 2.0], [3.0, 4.0]]], (2, 4)).to_dense()
    tensor([[0., 0., 1., 2.],
            [0., 0., 3., 4.]])
    """
    return sparse_compressed_tensor(
        ccol_indices,
        row_indices,
        values,
        size,
        dtype=dtype,
        layout=taeda.sparse_bsc,
        device=device,
        requires_grad=requires_grad,
        check_invariants=check_invariants,
        pin_memory=pin_memory,
    )
