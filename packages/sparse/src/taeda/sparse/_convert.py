"""From strided to sparse, to coordinates, and back."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor

from ._graph import built, entries, raw_entries, row_major
from ._parts import Coo, keys_of, parts_of

__all__ = ["to_coo", "to_dense"]


def to_dense(x: Tensor) -> Tensor:
    """The strided tensor of the same elements."""
    parts, values = raw_entries(x)
    flat, places = parts.flat(values), parts.places()
    if not places:
        return flat.sum(0).to(flat.dtype)
    if flat.dtype is taeda.bool:
        zeros = taeda.zeros(x.shape, dtype=taeda.bool, device=x.device)
        return zeros.index_put(places, flat) if _is_unique(parts) else to_dense(_summed(x))
    rows, rest = math.prod(x.shape[: len(places)]), tuple(x.shape[len(places) :])
    zeros = flat.new_zeros((rows, *rest))
    return zeros.index_add(0, keys_of(places, x.shape), flat).reshape(x.shape)


def _is_unique(parts: Any) -> bool:
    return not isinstance(parts, Coo) or parts.is_coalesced


def _summed(x: Tensor) -> Tensor:
    parts, values = entries(x)
    return built(parts, values, x.shape)


def to_coo(x: Tensor, sparse_dim: int | None = None) -> Tensor:
    """By coordinates; coalesced if it comes from another layout."""
    parts = parts_of(x)
    if parts is None:
        return _from_strided(x, sparse_dim)
    if isinstance(parts, Coo):
        if sparse_dim in (None, parts.indices.size(0)):
            return x
        raise RuntimeError(
            f"to_sparse: the tensor has {parts.indices.size(0)} sparse dimensions already; "
            f"to_dense().to_sparse({sparse_dim}) has {sparse_dim}"
        )
    own, values = row_major(*entries(x), x.shape)
    flat = own.flat(values)
    return built(Coo(taeda.stack(own.places()), flat.detach(), True), flat, x.shape)


def _from_strided(x: Tensor, sparse_dim: int | None) -> Tensor:
    count = x.dim() if sparse_dim is None else int(sparse_dim)
    if not 0 <= count <= x.dim() or (count == 0 and x.dim() > 0):
        raise RuntimeError(
            f"to_sparse: sparse_dim must be from {min(1, x.dim())} to {x.dim()}, but got {count}"
        )
    if not x.dim():
        kept = int(x.detach() != 0)
        indices = taeda.empty((0, kept), dtype=taeda.int64, device=x.device)
        return built(Coo(indices, x.detach().reshape(1)[:kept], True), x.reshape(1)[:kept], ())
    there = x.detach() != 0
    if count < x.dim():
        there = there.reshape((*x.shape[:count], math.prod(x.shape[count:]))).any(-1)
    indices = there.nonzero().t().contiguous()
    values = x[tuple(indices.unbind(0))]
    return built(Coo(indices, values.detach(), True), values, x.shape)
