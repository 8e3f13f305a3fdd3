"""What a sparse tensor is made of: strided tensors of indices and of values.

The tensor itself (`Tensor`, of the layout sparse_coo or sparse_csr) has no memory. Its parts are
never written into by the library: a write into a sparse tensor gives it other parts.
"""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core

__all__ = ["Coo", "Csr", "Parts", "coalesced", "coo", "csr", "parts_of", "require"]


def _version(indices: Tensor) -> int:
    """The count of writes; of inference tensors, which count none, never the one that was noted."""
    return -1 if indices.is_inference() else indices._version


class Coo:
    """Indices (sparse dimensions, entries) and values (entries, dense dimensions)."""

    __slots__ = ("_crow", "indices", "is_coalesced", "values", "version")

    def __init__(self, indices: Tensor, values: Tensor, is_coalesced: bool) -> None:
        self.indices, self.values = indices, values
        self.is_coalesced = is_coalesced
        self.version = _version(indices)
        self._crow: Tensor | None = None

    def like(self, values: Tensor) -> Coo:
        """Other values at the same places."""
        made = Coo(self.indices, values, self.is_coalesced)
        made._crow = self._crow
        return made

    def named(self) -> tuple[tuple[str, Tensor], ...]:
        """The strided tensors, by the names that they are printed under."""
        return ("indices", self.indices), ("values", self.values)

    def places(self) -> tuple[Tensor, ...]:
        """The indices of each sparse dimension."""
        return tuple(self.indices.unbind(0))

    def crow(self, rows: int) -> Tensor:
        """Where each row of a coalesced matrix begins."""
        if self._crow is None:
            edges = taeda.arange(rows + 1, device=self.indices.device)
            self._crow = taeda.searchsorted(self.indices[0].contiguous(), edges)
        return self._crow

    def check(self, size: Any) -> None:
        """Look at the indices again if somebody wrote into them, whose memory they share."""
        if self.version == _version(self.indices) != -1:
            return
        check_coo(self.indices, size)
        self.version, self.is_coalesced, self._crow = _version(self.indices), False, None


class Csr:
    """Where each row begins, the column of each entry, and the values."""

    __slots__ = ("col", "crow", "values", "versions")

    def __init__(self, crow: Tensor, col: Tensor, values: Tensor) -> None:
        self.crow, self.col, self.values = crow, col, values
        self.versions = _version(crow), _version(col)

    def like(self, values: Tensor) -> Csr:
        """Other values at the same places."""
        return Csr(self.crow, self.col, values)

    def named(self) -> tuple[tuple[str, Tensor], ...]:
        """The strided tensors, by the names that they are printed under."""
        return ("crow_indices", self.crow), ("col_indices", self.col), ("values", self.values)

    def rows(self) -> Tensor:
        """The row of each entry."""
        rows = taeda.arange(self.crow.numel() - 1, device=self.crow.device)
        return rows.repeat_interleave(self.crow.diff().long())

    def places(self) -> tuple[Tensor, ...]:
        """The row and the column of each entry."""
        return self.rows(), self.col.long()

    def check(self, size: Any) -> None:
        """Look at the indices again if somebody wrote into them, whose memory they share."""
        versions = _version(self.crow), _version(self.col)
        if self.versions == versions and -1 not in versions:
            return
        check_csr(self.crow, self.col, size)
        self.versions = versions


Parts = Coo | Csr


# ---- bounds ----


def check_coo(indices: Tensor, size: Any) -> None:
    """RuntimeError for an index that is negative or not below the size of its dimension."""
    if not indices.numel():
        return
    least, most = indices.amin(1).tolist(), indices.amax(1).tolist()
    for dim, (low, high) in enumerate(zip(least, most, strict=True)):
        if low < 0:
            raise RuntimeError(
                f"found negative index {low} for dim {dim}: indices of a sparse tensor count from 0"
            )
        if high >= size[dim]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {size[dim]} but found "
                f"index {high}"
            )


def check_csr(crow: Tensor, col: Tensor, size: Any) -> None:
    """RuntimeError for offsets that do not rise from 0 to the number of entries, for a column that
    is none, and for columns of a row that do not rise.
    """
    entries = col.numel()
    first, last = int(crow[0]), int(crow[-1])
    if first != 0 or last != entries or bool((crow.diff() < 0).any()):
        raise RuntimeError(
            f"crow_indices must rise from 0 to {entries}, the number of col_indices, but they begin "
            f"with {first} and end with {last}"
            + ("" if (first, last) != (0, entries) else ", and fall in between")
        )
    if not entries:
        return
    if int(col.amin()) < 0 or int(col.amax()) >= size[1]:
        raise RuntimeError(
            f"col_indices must be from 0 to {size[1] - 1}, but they are from {int(col.amin())} to "
            f"{int(col.amax())}"
        )
    begins = taeda.zeros(entries + 1, dtype=taeda.bool, device=col.device)
    begins[crow.long()] = True
    if bool(((col.diff() <= 0) & ~begins[1:-1]).any()):
        raise RuntimeError("col_indices must rise within each row, and name no column twice")


# ---- tensors ----


def coo(parts: Coo, size: Any) -> Tensor:
    """The tensor of these parts, outside of any graph."""
    values = parts.values
    return _tensor(taeda.sparse_coo, parts, size, values)


def csr(parts: Csr, size: Any) -> Tensor:
    """The tensor of these parts, outside of any graph."""
    return _tensor(taeda.sparse_csr, parts, size, parts.values)


def tensor_of(parts: Parts, size: Any) -> Tensor:
    """The tensor of these parts, outside of any graph."""
    return coo(parts, size) if isinstance(parts, Coo) else csr(parts, size)


def _tensor(layout: Any, parts: Parts, size: Any, values: Tensor) -> Tensor:
    made: Tensor = core.make_layout(layout, tuple(size), values.dtype, values.device, parts)
    return made


def parts_of(x: Tensor) -> Any:
    """The parts of a sparse tensor, their indices within bounds; None of a strided one."""
    parts = core.parts_of(x)
    if parts is not None:
        parts.check(x.shape)
    return parts


def require(x: Tensor, kind: type, name: str) -> Any:
    """The parts, of this kind; RuntimeError for a tensor of another layout."""
    parts = parts_of(x)
    if isinstance(parts, kind):
        return parts
    wanted = "sparse_coo" if kind is Coo else "sparse_csr"
    raise RuntimeError(
        f"{name} expected a tensor of layout taeda.{wanted} but got one of layout {x.layout}"
    )


# ---- one entry for each place ----


def keys_of(places: tuple[Tensor, ...], size: Any) -> Tensor:
    """The number of each place in row-major order."""
    key = places[0]
    for at, length in zip(places[1:], size[1 : len(places)], strict=True):
        key = key * length + at
    return key


def coalesced(parts: Parts, size: Any) -> Parts:
    """Parts whose places are in order, each once; entries of one place are added up."""
    if isinstance(parts, Csr) or parts.is_coalesced:
        return parts
    indices, values = parts.indices, parts.values
    if not indices.size(0):
        total = values.sum(0, keepdim=True).to(values.dtype)
        return Coo(indices[:, :1], total if indices.size(1) else values, True)
    keys = keys_of(parts.places(), size)
    if keys.numel() < 2 or bool((keys.diff() > 0).all()):
        return Coo(indices, values, True)
    ordered, order = taeda.sort(keys, stable=True)
    first = taeda.cat([ordered.new_ones(1, dtype=taeda.bool), ordered.diff() > 0])
    kept = order[first]
    if kept.numel() == order.numel():
        return Coo(indices[:, order], values[order], True)
    number = first.cumsum(0) - 1
    return Coo(indices[:, kept], _sums(values[order], number, kept.numel()), True)


def _sums(values: Tensor, number: Tensor, count: int) -> Tensor:
    """Rows of `values` added up by number."""
    if values.dtype is taeda.bool:
        return _sums(values.to(taeda.int32), number, count) > 0
    zeros = values.new_zeros((count, *values.shape[1:]))
    return zeros.index_add(0, number, values)
