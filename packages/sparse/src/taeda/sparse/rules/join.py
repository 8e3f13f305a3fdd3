"""Tensors one behind the other, along a dimension that is there or a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.layouts import dimension

from .._compress import to_compressed
from .._convert import to_coo
from .._graph import built, raw_entries
from .._parts import Coo
from ._registry import COO, MATRICES, OF_NUMBERS, rule
from .indexing import dense_dim_of
from .shape import unsqueeze


def _all_sparse(tensors: Sequence[Tensor]) -> bool:
    return all(x.layout is not taeda.strided for x in tensors)


@rule("cat", layouts=OF_NUMBERS)
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Any:
    if not _all_sparse(tensors):
        return NotImplemented
    layouts = {x.layout for x in tensors}
    if layouts != {taeda.sparse_coo}:
        if len(layouts) > 1 or layouts.isdisjoint(MATRICES) or tensors[0].dim() != 2:
            return NotImplemented
        return to_compressed(cat([to_coo(x) for x in tensors], dim), layouts.pop())
    at = dimension(dim, tensors[0].dim())
    _check_alike(tensors, at)
    size = list(tensors[0].shape)
    size[at] = sum(x.shape[at] for x in tensors)
    return _joined(tensors, at, size)


def _check_alike(tensors: Sequence[Tensor], dim: int) -> None:
    first = tensors[0]
    for number, x in enumerate(tensors):
        same = x.dim() == first.dim() and x.sparse_dim() == first.sparse_dim()
        rest = [
            (a, b) for d, (a, b) in enumerate(zip(x.shape, first.shape, strict=False)) if d != dim
        ]
        if not same or any(a != b for a, b in rest):
            raise RuntimeError(
                f"cat: tensors must have the same sizes except in dimension {dim}, and the same number of "
                f"sparse dimensions. Tensor {number} has {tuple(x.shape)}, {x.sparse_dim()} of them "
                f"sparse, and the first has {tuple(first.shape)}, {first.sparse_dim()} of them sparse"
            )


def _joined(tensors: Sequence[Tensor], dim: int, size: list[int]) -> Tensor:
    dtype = tensors[0].dtype
    for x in tensors[1:]:
        dtype = taeda.promote_types(dtype, x.dtype)
    found = [raw_entries(x) for x in tensors]
    indices, values, before = [], [], 0
    for x, (parts, own) in zip(tensors, found, strict=True):
        length = x.shape[dim]
        moved, at = parts.indices, dense_dim_of(parts, dim)
        if at < 1:
            moved = moved.clone()
            moved[dim] += before
        else:
            own = _widened(own, at, before, size[dim] - before - length)
        indices.append(moved)
        values.append(own.to(dtype))
        before += length
    joined = taeda.cat(values)
    return built(Coo(taeda.cat(indices, 1), joined.detach(), False), joined, size)


def _widened(values: Tensor, dim: int, before: int, after: int) -> Tensor:
    """Zeros on both sides along a dense dimension."""

    def zeros(length: int) -> Tensor:
        shape = list(values.shape)
        shape[dim] = length
        return values.new_zeros(shape)

    return taeda.cat([zeros(before), values, zeros(after)], dim)


@rule("stack", layouts=COO)
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Any:
    if not _all_sparse(tensors) or {x.layout for x in tensors} != {taeda.sparse_coo}:
        return NotImplemented
    at = dimension(dim, tensors[0].dim() + 1)
    if any(x.shape != tensors[0].shape for x in tensors):
        raise RuntimeError(
            f"stack expects each tensor to be equal size, but got {[tuple(x.shape) for x in tensors]}"
        )
    return cat([unsqueeze(x, at) for x in tensors], at)


@rule("hstack", layouts=OF_NUMBERS)
def hstack(tensors: Sequence[Tensor]) -> Any:
    return cat(tensors, 0 if tensors[0].dim() == 1 else 1)


@rule("vstack", layouts=OF_NUMBERS)
def vstack(tensors: Sequence[Tensor]) -> Any:
    if not _all_sparse(tensors):
        return NotImplemented
    return cat([unsqueeze(x, 0) if x.dim() == 1 else x for x in tensors], 0)


@rule("dstack", layouts=COO)
def dstack(tensors: Sequence[Tensor]) -> Any:
    if not _all_sparse(tensors) or any(x.dim() == 1 for x in tensors):
        return NotImplemented
    return cat([unsqueeze(x, 2) if x.dim() == 2 else x for x in tensors], 2)
