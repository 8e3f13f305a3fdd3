"""From strided to sparse, from one layout to another, and back."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._graph import built, entries, raw_entries
from ._parts import Coo, Csr, keys_of, parts_of

__all__ = ["to_coo", "to_csr", "to_dense"]


def to_dense(x: Tensor) -> Tensor:
    """The strided tensor of the same elements."""
    parts, values = raw_entries(x)
    places = parts.places()
    if not places:
        return values.sum(0).to(values.dtype)
    count, rest = len(places), tuple(x.shape[len(places) :])
    if values.dtype is taeda.bool:
        zeros = taeda.zeros(x.shape, dtype=taeda.bool, device=x.device)
        return zeros.index_put(places, values) if _is_unique(parts) else to_dense(_summed(x))
    rows = 1
    for n in x.shape[:count]:
        rows *= n
    zeros = values.new_zeros((rows, *rest))
    return zeros.index_add(0, keys_of(places, x.shape), values).reshape(x.shape)


def _is_unique(parts: Any) -> bool:
    return isinstance(parts, Csr) or parts.is_coalesced


def _summed(x: Tensor) -> Tensor:
    parts, values = entries(x)
    return built(parts, values, x.shape)


def to_coo(x: Tensor, sparse_dim: int | None = None) -> Tensor:
    """COO, coalesced if it comes from another layout."""
    parts = parts_of(x)
    if isinstance(parts, Coo):
        if sparse_dim in (None, parts.indices.size(0)):
            return x
        raise RuntimeError(
            f"to_sparse: the tensor has {parts.indices.size(0)} sparse dimensions already; "
            f"to_dense().to_sparse({sparse_dim}) has {sparse_dim}"
        )
    if isinstance(parts, Csr):
        _, values = entries(x)
        return built(Coo(taeda.stack(parts.places()), parts.values, True), values, x.shape)
    return _from_strided(x, sparse_dim)


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
        there = there.reshape((*x.shape[:count], -1)).any(-1)
    indices = there.nonzero().t().contiguous()
    values = x[tuple(indices.unbind(0))]
    return built(Coo(indices, values.detach(), True), values, x.shape)


def to_csr(x: Tensor) -> Tensor:
    """CSR of a matrix."""
    if x.layout is taeda.sparse_csr:
        return x
    if x.dim() != 2:
        raise RuntimeError(f"to_sparse_csr: wanted a matrix, got {x.dim()} dimensions")
    if x.layout is taeda.strided:
        x = to_coo(x)
    given = parts_of(x)
    if given.indices.size(0) != 2:
        raise NotImplementedError("to_sparse_csr: dense dimensions do not exist in CSR yet")
    parts, values = entries(x)
    made = Csr(parts.crow(x.shape[0]), parts.indices[1].contiguous(), parts.values)
    return built(made, values, x.shape)
