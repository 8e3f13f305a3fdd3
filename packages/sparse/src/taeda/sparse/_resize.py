"""Other sizes of a tensor by coordinates, in place."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core

from ._parts import Coo, parts_of, require, tensor_of

__all__ = ["become", "sparse_resize_", "sparse_resize_and_clear_"]


def sparse_resize_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Change the size and the numbers of sparse and dense dimensions. What has entries can only grow, and
    new dense elements are 0.
    """
    parts, size = _asked(self, size, sparse_dim, dense_dim, "sparse_resize_")
    if not parts.indices.size(1):
        return become(self, _empty(parts, size, sparse_dim), size)
    before, known = tuple(self.shape), parts.indices.size(0)
    _check_keeps("sparse dimensions", known, sparse_dim)
    _check_keeps("dense dimensions", len(before) - known, dense_dim)
    _check_grows("sparse dimensions", before[:known], size[:known])
    _check_grows("dense dimensions", before[known:], size[known:])
    values = parts.values
    if size[known:] != before[known:]:
        wide = values.new_zeros((values.shape[0], *size[known:]))
        wide[tuple(slice(n) for n in values.shape)] = values
        values = wide
    return become(self, Coo(parts.indices, values, parts.is_coalesced), size)


def sparse_resize_and_clear_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Remove all entries, and change the size and the numbers of sparse and dense dimensions."""
    parts, size = _asked(self, size, sparse_dim, dense_dim, "sparse_resize_and_clear_")
    return become(self, _empty(parts, size, sparse_dim), size)


def _asked(x: Tensor, size: Any, sparse_dim: int, dense_dim: int, name: str) -> Any:
    parts = require(x, (taeda.sparse_coo,), name)
    if x.requires_grad:
        raise RuntimeError(f"{name}: a tensor that requires grad cannot be resized: use detach()")
    size = tuple(int(n) for n in size)
    if any(n < 0 for n in size):
        raise RuntimeError(f"{name}: a size has no negative numbers, but got {size}")
    if min(sparse_dim, dense_dim) < 0 or sparse_dim + dense_dim != len(size):
        raise RuntimeError(
            f"{name}: number of dimensions must be sparse_dim ({sparse_dim}) + dense_dim "
            f"({dense_dim}), but got {len(size)}"
        )
    return parts, size


def _empty(parts: Coo, size: Any, sparse_dim: int) -> Coo:
    indices = taeda.empty((sparse_dim, 0), dtype=taeda.int64, device=parts.indices.device)
    return Coo(indices, parts.values.new_empty((0, *size[sparse_dim:])), True)


def _check_keeps(what: str, before: int, after: int) -> None:
    if before != after:
        raise RuntimeError(
            f"changing the number of {what} (from {before} to {after}) on a non-empty sparse tensor is "
            "not supported: make a new one, or use sparse_resize_and_clear_"
        )


def _check_grows(what: str, before: Any, after: Any) -> None:
    if any(new < old for old, new in zip(before, after, strict=True)):
        raise RuntimeError(
            f"shrinking the size of {what} (from {list(before)} to {list(after)}) on a non-empty sparse "
            "tensor is not supported: make a new one, or use sparse_resize_and_clear_"
        )


def become(self: Tensor, parts: Any, size: Any) -> Tensor:
    """Let `self` be the tensor of these parts and this size; its version grows."""
    made, before = tensor_of(parts, size), self._version
    self.data = made  # which begins to count anew
    while self._version <= before:
        core.set_parts(self, parts_of(made))
    return self
