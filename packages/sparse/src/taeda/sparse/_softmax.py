"""Softmax over the entries that there are: places without one count as minus infinity."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._compress import to_compressed
from ._compressed import BLOCKED, Compressed
from ._convert import to_coo
from ._graph import built, entries
from ._parts import keys_of, parts_of

__all__ = ["log_softmax", "softmax"]


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """exp(x) / sum of exp(x) along `dim`, over the entries that there are, in the layout of `input`.

    Args:
        input: a sparse tensor of floats; entries at one place are added up first.
        dim: a sparse or a dense dimension.
        dtype: of the result; None (the default) for that of `input`.

    >>> import taeda
    >>> x = taeda.tensor([[1.0, 1.0, 0.0], [0.0, 5.0, 0.0]]).to_sparse()
    >>> taeda.sparse.softmax(x, 1).to_dense()
    tensor([[0.5000, 0.5000, 0.0000],
            [0.0000, 1.0000, 0.0000]])
    """
    return _along(input, dim, dtype, is_log=False)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The logarithm of `softmax`, exact where that is near 0. The arguments are those of `softmax`.

    Args:
        input: a sparse tensor of floats; entries at one place are added up first.
        dim: a sparse or a dense dimension.
        dtype: of the result, a floating-point one; None (the default) for that of `input`.

    >>> import taeda
    >>> x = taeda.tensor([[1.0, 1.0, 0.0]]).to_sparse()
    >>> taeda.sparse.log_softmax(x, 1).values()
    tensor([-0.6931, -0.6931])
    """
    return _along(input, dim, dtype, is_log=True)


def _along(x: Tensor, dim: int, dtype: Any, is_log: bool) -> Tensor:
    name = "log_softmax" if is_log else "softmax"
    parts = parts_of(x)
    if parts is None:
        raise NotImplementedError(
            f"sparse.{name} expected a sparse tensor but got one of layout {x.layout}"
        )
    if not -x.dim() <= dim < x.dim():
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-x.dim()}, {x.dim() - 1}], but got {dim})"
        )
    kind = dtype or x.dtype
    if not kind.is_floating_point:
        raise RuntimeError(f"sparse.{name}: wanted a floating point dtype, got {kind}")
    if x.layout is taeda.sparse_csr and parts.values.dim() == 1 and dim % 2 == 1:
        return _of_rows(x, kind, is_log)
    made = _of_coo(to_coo(x), dim % x.dim(), kind, is_log)
    if not isinstance(parts, Compressed):
        return made
    return to_compressed(made, x.layout, parts.blocksize if x.layout in BLOCKED else None)


def _of_rows(x: Tensor, dtype: Any, is_log: bool) -> Tensor:
    """Along the rows of a matrix by compressed rows: its offsets are the edges."""
    parts, values = entries(x)
    made = _of_segments(values.to(dtype), parts.compressed.long(), is_log)
    return built(Compressed(x.layout, parts.compressed, parts.plain, made.detach()), made, x.shape)


def _of_coo(x: Tensor, dim: int, dtype: Any, is_log: bool) -> Tensor:
    parts, values = entries(x)
    values = values.to(dtype)
    count = int(parts.indices.size(0))
    if dim >= count:
        function = taeda.log_softmax if is_log else taeda.softmax
        return built(parts, function(values, dim - count + 1), x.shape)
    return built(parts, _along_sparse(parts, values, x.shape, dim, is_log), x.shape)


def _along_sparse(parts: Any, values: Tensor, size: Any, dim: int, is_log: bool) -> Tensor:
    keys = _slices(parts, size, dim)
    if dim == parts.indices.size(0) - 1:  # places are in order, so slices are
        return _of_segments(values, _edges(keys), is_log)
    ordered, order = keys.sort(stable=True)
    made = _of_segments(values.index_select(0, order), _edges(ordered), is_log)
    back = taeda.empty_like(order).index_copy_(0, order, taeda.arange(order.numel()).to(order))
    return made.index_select(0, back)


def _slices(parts: Any, size: Any, dim: int) -> Tensor:
    """A number of the slice along `dim` in which each entry lies."""
    others = [n for n in range(parts.indices.size(0)) if n != dim]
    if not others:
        return taeda.zeros_like(parts.indices[0])
    return keys_of(tuple(parts.indices[n] for n in others), [size[n] for n in others])


def _edges(keys: Tensor) -> Tensor:
    """Where runs of equal numbers begin, and the end."""
    begins = (keys.diff() != 0).nonzero().reshape(-1) + 1
    ends = keys.new_tensor([keys.numel()] if keys.numel() else [])
    return taeda.cat([keys.new_zeros(1), begins, ends])


def _of_segments(values: Tensor, edges: Tensor, is_log: bool) -> Tensor:
    """Along runs of values (entries, dense dimensions)."""
    if not values.numel():
        return values
    short = values.dtype in (taeda.float16, taeda.bfloat16)
    rows = (values.float() if short else values).reshape(values.shape[0], -1).t()
    made = taeda._segment_softmax(rows, edges, is_log).t().reshape(values.shape)
    return made.to(values.dtype)
