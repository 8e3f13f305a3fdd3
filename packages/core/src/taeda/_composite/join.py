"""Joins that are written in terms of cat, stack, pad and views."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import taeda
from taeda import Tensor

from .view import atleast_1d, atleast_2d, atleast_3d


def _some(name: str, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    if len(tensors) == 0:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tensors


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join along dimension 1, vectors along dimension 0."""
    parts = [atleast_1d(t) for t in _some("hstack", tensors)]
    return taeda.cat(parts, 0 if parts[0].dim() == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join along dimension 0; vectors are rows."""
    return taeda.cat([atleast_2d(t) for t in _some("vstack", tensors)], 0)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join along dimension 2."""
    return taeda.cat([atleast_3d(t) for t in _some("dstack", tensors)], 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Join along dimension 1; vectors are columns."""
    parts = [t.reshape(t.numel(), 1) if t.dim() <= 1 else t for t in _some("column_stack", tensors)]
    return taeda.cat(parts, 1)


def meshgrid_indexing(tensors: Sequence[Tensor], indexing: str) -> tuple[Tensor, ...]:
    """One tensor per axis, expanded over the grid of all axes; "xy" swaps the first two axes of the
    results.
    """
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for t in _some("meshgrid", tensors):
        if t.dim() > 1:
            raise RuntimeError(
                f"meshgrid: Expected 0D or 1D tensor in the tensor list but got shape {list(t.shape)}"
            )
        if t.dtype != tensors[0].dtype:
            raise RuntimeError(
                f"meshgrid expects all tensors to have the same dtype, got {tensors[0].dtype} and {t.dtype}"
            )
    shape = [t.numel() for t in tensors]
    grids = []
    for axis, t in enumerate(tensors):
        along = [1] * len(tensors)
        along[axis] = t.numel()
        grids.append(t.reshape(along).expand(shape))
    if indexing == "xy" and len(tensors) > 1:
        grids = [g.transpose(0, 1) for g in grids]
    return tuple(grids)


def cartesian_prod(tensors: Sequence[Tensor]) -> Tensor:
    """Every combination as a row, the last tensor fastest; of one tensor, itself."""
    for t in _some("cartesian_prod", tensors):
        if t.dim() != 1:
            raise RuntimeError(f"cartesian_prod: Expect a 1D vector, but got shape {list(t.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return taeda.stack([g.flatten() for g in meshgrid_indexing(tensors, "ij")], 1)


def block_diag(tensors: Sequence[Tensor]) -> Tensor:
    """Matrices one after the other along the diagonal; vectors are rows."""
    for i, t in enumerate(tensors):
        if t.dim() > 2:
            raise RuntimeError(
                f"block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has "
                f"{t.dim()} dimensions"
            )
    blocks = [atleast_2d(t) for t in tensors]
    if not blocks:
        return taeda.empty((1, 0))
    total, before, rows = sum(b.size(1) for b in blocks), 0, []
    for b in blocks:
        rows.append(taeda.constant_pad_nd(b, (before, total - before - b.size(1))))
        before += b.size(1)
    return taeda.cat(rows, 0)


def combinations(self: Tensor, r: int, with_replacement: bool) -> Tensor:
    """Rows of r elements each, in the order of their places."""
    if self.dim() != 1:
        raise RuntimeError(f"combinations: Expect a 1D vector, but got shape {list(self.shape)}")
    if r < 0:
        raise RuntimeError(f"combinations: Expect a non-negative number, but got {r}")
    if r == 0:
        return taeda.empty((0,), dtype=self.dtype, device=self.device)
    n = self.numel()
    count = _count(n + r - 1 if with_replacement else n, r)
    if self.is_meta or not count:
        return taeda.empty((count, r), dtype=self.dtype, device=self.device)
    places = _places(n, r, with_replacement).to(self.device)
    return self.index_select(0, places.reshape(-1)).reshape(-1, r)


def _count(n: int, r: int) -> int:
    """How many choices of r of n there are. RuntimeError if they have more elements than memory.
    Beyond 64 of 128 there are more than 2**124, and nobody counts them.
    """
    few = min(r, n - r)
    if few > 64 or (few >= 0 and math.comb(n, few) * r > 2**40):
        raise RuntimeError(
            f"combinations: there are too many ways to choose {r} of {n} elements for a tensor"
        )
    return math.comb(n, few) if few >= 0 else 0


def _places(n: int, r: int, again: bool) -> Tensor:
    """Every choice of r of n places as a row of ascending numbers; `again`: a place may come twice.

    Pairs, which programs want mostly, are places in a triangle.
    """
    if r == 2:
        return taeda.triu_indices(n, n, 0 if again else 1).t()
    choose = itertools.combinations_with_replacement if again else itertools.combinations
    rows = list(choose(range(n), r))
    return taeda.tensor(rows, dtype=taeda.int64).reshape(len(rows), r)
