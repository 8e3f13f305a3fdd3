"""One element of a dimension, a stretch of it, and elements by number: always new tensors, no views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.layouts import dimension

from .._compress import to_compressed
from .._compressed import Compressed
from .._convert import to_coo
from .._graph import built, raw_entries
from .._parts import Coo, parts_of
from ._registry import MATRICES, OF_NUMBERS, rule


def dense_dim_of(parts: Coo, dim: int) -> int:
    """Which dimension of the values that is: they have one for all entries first."""
    return dim - int(parts.indices.size(0)) + 1


def _without(size: Any, dim: int) -> list[int]:
    return [n for at, n in enumerate(size) if at != dim]


# ---- one element ----


@rule("select.int", "select_copy")
def select(x: Tensor, dim: int, index: int) -> Any:
    at = dimension(dim, x.dim())
    length = x.shape[at]
    if not -length <= index < length:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(x.shape)} at dimension {at}"
        )
    number = int(index) % length
    parts = parts_of(x)
    if isinstance(parts, Compressed):
        return _of_batch(x, at, number) if at < len(parts.batch) else select(to_coo(x), at, number)
    parts, values = raw_entries(x)
    size = _without(x.shape, at)
    if at >= parts.indices.size(0):
        return built(
            parts.like(parts.values.select(dense_dim_of(parts, at), number)),
            values.select(dense_dim_of(parts, at), number),
            size,
        )
    kept = (parts.indices[at] == number).nonzero().squeeze(1)
    picked = values[kept]
    if parts.indices.size(0) == 1:  # nothing is sparse any more
        return picked.sum(0).to(picked.dtype)
    others = [n for n in range(parts.indices.size(0)) if n != at]
    indices = parts.indices[others][:, kept]
    return built(Coo(indices, picked.detach(), parts.is_coalesced), picked, size)


def _of_batch(x: Tensor, dim: int, number: int) -> Tensor:
    parts, values = raw_entries(x)
    picked = values.select(dim, number)
    own = (parts.compressed.select(dim, number), parts.plain.select(dim, number))
    made = Compressed(parts.layout, *own, picked.detach())
    return built(made, picked, _without(x.shape, dim))


# ---- a stretch ----


@rule("slice.Tensor", "slice_copy", layouts=OF_NUMBERS)
def cut(x: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    if step <= 0:
        raise ValueError(f"slice(): step must be greater than 0, but got {step}")
    if x.layout in MATRICES and x.dim() == 2:
        return to_compressed(cut(to_coo(x), dim, start, end, step), x.layout)
    if x.layout is not taeda.sparse_coo:
        return NotImplemented
    at = dimension(dim, x.dim())
    first, last, _ = slice(start, end).indices(x.shape[at])
    parts, values = raw_entries(x)
    size = list(x.shape)
    size[at] = len(range(first, last, step))
    if at >= parts.indices.size(0):
        where = dense_dim_of(parts, at)
        picked = values[(*(slice(None),) * where, slice(first, max(last, first), step))]
        return built(Coo(parts.indices, picked.detach(), parts.is_coalesced), picked, size)
    index = parts.indices[at] - first
    there = (index >= 0) & (index < last - first) & (index % step == 0)
    kept = there.nonzero().squeeze(1)
    indices = parts.indices[:, kept].clone()
    indices[at] = index[kept] // step
    picked = values[kept]
    return built(Coo(indices, picked.detach(), parts.is_coalesced), picked, size)


@rule("narrow", "narrow_copy", layouts=OF_NUMBERS)
def narrow(x: Tensor, dim: int, start: int, length: int) -> Any:
    at = dimension(dim, x.dim())
    first = start + x.shape[at] if start < 0 else start
    if length < 0 or not 0 <= first <= x.shape[at] - length:
        raise (RuntimeError if length < 0 else IndexError)(
            f"narrow(): start ({start}) + length ({length}) exceeds dimension size ({x.shape[at]})"
        )
    return cut(x, at, first, first + length)


@rule("unbind.int", "unbind_copy")
def unbind(x: Tensor, dim: int = 0) -> Any:
    return tuple(select(x, dim, number) for number in range(x.shape[dimension(dim, x.dim())]))


# ---- by number ----


@rule("index_select", layouts=OF_NUMBERS)
def index_select(x: Any, dim: int, index: Tensor) -> Any:
    if not isinstance(x, Tensor) or x.layout is taeda.strided or index.layout is not taeda.strided:
        return NotImplemented
    if index.dim() > 1 or index.dtype not in (taeda.int64, taeda.int32):
        raise (IndexError if index.dim() > 1 else RuntimeError)(
            "index_select(): wanted a vector of int64 or int32 as the index, got "
            f"{index.dim()} dimensions of {index.dtype}"
        )
    if isinstance(parts_of(x), Compressed):
        if x.dim() != 2:
            return NotImplemented
        return to_compressed(index_select(to_coo(x), dim, index), x.layout)
    at, number = dimension(dim, x.dim()), index.reshape(-1).long()
    _check_index(number, x.shape[at])
    parts, values = raw_entries(x)
    size = list(x.shape)
    size[at] = number.numel()
    if at >= parts.indices.size(0):
        picked = values.index_select(dense_dim_of(parts, at), number)
        return built(Coo(parts.indices, picked.detach(), parts.is_coalesced), picked, size)
    entry, to = _entries_of(parts.indices[at], number)
    indices = parts.indices[:, entry].clone()
    indices[at] = to
    picked = values[entry]
    return built(Coo(indices, picked.detach(), False), picked, size)


def _check_index(index: Tensor, length: int) -> None:
    if index.numel() and (int(index.amin()) < 0 or int(index.amax()) >= length):
        raise IndexError(
            f"index_select(): index out of range: wanted from 0 to {length - 1}, got from "
            f"{int(index.amin())} to {int(index.amax())}"
        )


def _entries_of(own: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """(entries whose index is wanted, the position in `wanted`), an entry as often as it is wanted."""
    ordered, order = taeda.sort(own, stable=True)
    begin = taeda.searchsorted(ordered, wanted)
    counts = taeda.searchsorted(ordered, wanted, right=True) - begin
    position = taeda.arange(wanted.numel(), device=own.device).repeat_interleave(counts)
    within = (
        taeda.arange(position.numel(), device=own.device) - (counts.cumsum(0) - counts)[position]
    )
    return order[begin[position] + within], position


@rule("index.Tensor", layouts=OF_NUMBERS)
def index(x: Any, indices: Sequence[Any]) -> Any:
    given = [(dim, one) for dim, one in enumerate(indices) if one is not None]
    if x.layout is taeda.strided or len(given) != 1 or given[0][1].dim() != 1:
        return NotImplemented
    dim, one = given[0]
    if one.dtype in (taeda.bool, taeda.uint8):
        if one.numel() != x.shape[dim]:
            raise IndexError(
                f"The shape of the mask {list(one.shape)} at index 0 does not match the shape of the "
                f"indexed tensor {list(x.shape)} at index {dim}"
            )
        return index_select(x, dim, one.nonzero().squeeze(1))
    number = one.long()
    length = x.shape[dim]
    if number.numel() and (int(number.amin()) < -length or int(number.amax()) >= length):
        raise IndexError(
            f"index is out of bounds for dimension {dim} with size {length}: it goes from "
            f"{int(number.amin())} to {int(number.amax())}"
        )
    return index_select(x, dim, taeda.where(number < 0, number + length, number))
