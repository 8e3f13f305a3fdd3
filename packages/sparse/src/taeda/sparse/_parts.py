"""What a sparse tensor is made of: strided tensors of indices and of values.

The tensor itself (`Tensor`, of a sparse layout) has no memory. The strided tensors of its parts are
never written into by the library: a write into a sparse tensor puts others in their place, which
a tensor that was detached from it sees where it has the same parts.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda._core_api.layouts import version_of

from ._compressed import Compressed

__all__ = [
    "Coo", "Parts", "check_coo", "coalesced", "keys_of", "parts_of", "require", "tensor_of",
]  # fmt: skip


class Coo:
    """Indices (sparse dimensions, entries) and values (entries, dense dimensions)."""

    __slots__ = ("_crow", "indices", "is_coalesced", "source", "values", "version")

    def __init__(self, indices: Tensor, values: Tensor, is_coalesced: bool) -> None:
        self.indices, self.values = indices, values
        self.is_coalesced = is_coalesced or indices.size(1) < 2  # one entry is in order, none twice
        self.version = version_of(indices)
        self._crow: Tensor | None = None
        self.source: Any = None  # what the values are, if a graph knows of that

    def like(self, values: Tensor) -> Coo:
        """Other values at the same places, whose indices were looked at when those of this one were."""
        made = Coo.__new__(Coo)
        made.indices, made.values, made.is_coalesced = self.indices, values, self.is_coalesced
        made.version, made._crow, made.source = self.version, self._crow, None
        return made

    def become(self, other: Coo) -> None:
        """Take over what another has: every tensor of these parts, such as one that was detached, sees it."""
        self.indices, self.values, self.is_coalesced = (
            other.indices,
            other.values,
            other.is_coalesced,
        )
        self.version, self._crow, self.source = other.version, other._crow, None

    def placing(self) -> tuple[tuple[str, Tensor], ...]:
        """The tensors that say where values stand, by their names."""
        return (("indices", self.indices),)

    def named(self) -> tuple[tuple[str, Tensor], ...]:
        """The strided tensors, by the names that they are printed under."""
        return ("indices", self.indices), ("values", self.values)

    @property
    def is_row_major(self) -> bool:
        """Do entries lie in the order of their places in a strided tensor, each once?"""
        return self.is_coalesced

    def flat(self, values: Tensor) -> Tensor:
        """Values with one dimension for all entries, before the dense ones: as they are."""
        return values

    def shaped(self, flat: Tensor) -> Tensor:
        """Values of this form, of those with one dimension for all entries: as they are."""
        return flat

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
        if self.version == version_of(self.indices) != -1:
            return
        check_coo(self.indices, size)
        self.is_coalesced = self.indices.size(1) < 2
        self.version, self._crow = version_of(self.indices), None


Parts: TypeAlias = Coo | Compressed


# ---- bounds ----


def check_coo(indices: Tensor, size: Any) -> None:
    """RuntimeError for an index that is negative or not below the size of its dimension."""
    if not indices.numel() or indices.is_meta:  # on meta there are no numbers to look at
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


# ---- tensors ----


def tensor_of(parts: Parts, size: Any) -> Tensor:
    """The tensor of these parts, outside of any graph."""
    layout = parts.layout if isinstance(parts, Compressed) else taeda.sparse_coo
    values = parts.values
    made: Tensor = core.make_layout(layout, tuple(size), values.dtype, values.device, parts)
    return made


def parts_of(x: Tensor) -> Any:
    """The parts of a sparse tensor, their indices within bounds; None of a strided one."""
    parts = core.parts_of(x)
    if parts is None:
        return None
    if not isinstance(parts, (Coo, Compressed)):
        raise NotImplementedError(
            f"wanted a strided or a sparse tensor, but got a {type(x).__name__}: ask the tensors that "
            "it is made of"
        )
    parts.check(x.shape)
    return parts


def require(x: Tensor, layouts: tuple[Any, ...], name: str) -> Any:
    """The parts of a tensor of one of these layouts; RuntimeError for a tensor of another."""
    if x.layout in layouts:
        return parts_of(x)
    wanted = " or ".join(str(layout) for layout in layouts)
    raise RuntimeError(
        f"{name} expected a tensor of layout {wanted} but got one of layout {x.layout}"
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
    if isinstance(parts, Compressed) or parts.is_coalesced:
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
