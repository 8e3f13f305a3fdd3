"""Copies, other dtypes and devices, transposed tensors, zeros alike."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda._core_api.layouts import dimension

from .._compressed import TURNED, Compressed
from .._graph import built, raw_entries
from .._parts import Coo, parts_of, tensor_of
from ._registry import ALL, COO, rule, take, writes
from .factories import zeros_like


@rule("alias")
def alias(x: Tensor) -> Tensor:
    parts, values = raw_entries(x)
    return built(parts, values, x.shape)


@rule("detach")
def detach(x: Tensor) -> Any:
    parts_of(x)  # within bounds
    return Tensor._make_subclass(Tensor, x)  # of the same parts, which counts the same writes


@rule("contiguous")
def contiguous(x: Tensor, memory_format: Any = None) -> Tensor:
    return x


@rule("clone")
def clone(x: Tensor, memory_format: Any = None) -> Tensor:
    parts, values = raw_entries(x)
    return built(_copied(parts), values.clone(), x.shape)


def _copied(parts: Any) -> Any:
    if isinstance(parts, Compressed):
        own = parts.compressed.clone(), parts.plain.clone()
        return Compressed(parts.layout, *own, parts.values)
    return Coo(parts.indices.clone(), parts.values, parts.is_coalesced)


def _moved(parts: Any, device: Any) -> Any:
    if isinstance(parts, Compressed):
        own = parts.compressed.to(device), parts.plain.to(device)
        return Compressed(parts.layout, *own, parts.values)
    return Coo(parts.indices.to(device), parts.values, parts.is_coalesced)


@rule("_to_copy")
def to_copy(
    x: Tensor,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> Tensor:
    parts, values = raw_entries(x)
    made = values.to(dtype=dtype or x.dtype, device=device or x.device, copy=True)
    moved = _moved(parts, device) if device is not None else _copied(parts)
    return built(moved, made, x.shape)


# ---- other orders of dimensions ----


@rule("t", "t_copy")
def t(x: Tensor) -> Tensor:
    if x.dim() > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {x.dim()}D")
    return x if x.dim() < 2 else transpose(x, 0, 1)


@rule("numpy_T", "mT")
def reversed_dims(x: Tensor) -> Any:
    return transpose(x, 0, 1) if x.dim() == 2 else NotImplemented


@rule("transpose.int", "transpose_copy.int")
def transpose(x: Tensor, dim0: int, dim1: int) -> Any:
    a, b = dimension(dim0, x.dim()), dimension(dim1, x.dim())
    order = list(range(x.dim()))
    order[a], order[b] = order[b], order[a]
    return permute(x, order)


@rule("permute", "permute_copy")
def permute(x: Tensor, dims: Any) -> Any:
    order = [dimension(dim, x.dim()) for dim in dims]
    if sorted(order) != list(range(x.dim())):
        raise RuntimeError(
            f"permute: wanted each of {x.dim()} dimensions once, but got {list(dims)}"
        )
    if order == list(range(x.dim())):
        return tensor_of(parts_of(x), x.shape) if not x.requires_grad else x.clone()
    parts, values = raw_entries(x)
    size = [x.shape[dim] for dim in order]
    if isinstance(parts, Compressed):
        return _turned(parts, values, order, size)
    count = int(parts.indices.size(0))
    if sorted(order[:count]) != list(range(count)):
        return NotImplemented  # a sparse dimension would stand behind a dense one
    moved = values.permute(0, *(dim - count + 1 for dim in order[count:]))
    kept = order[:count] == list(range(count)) and parts.is_coalesced
    return built(Coo(parts.indices[order[:count]], moved.detach(), kept), moved, size)


def _turned(parts: Compressed, values: Tensor, order: list[int], size: list[int]) -> Any:
    """Rows become columns, with the same indices; other dimensions of such a tensor cannot move."""
    batch = len(parts.batch)
    wanted = list(range(len(order)))
    wanted[batch], wanted[batch + 1] = wanted[batch + 1], wanted[batch]
    if order != wanted:
        return NotImplemented
    at = parts.plain.dim()
    moved = (
        values
        if parts.layout in (taeda.sparse_csr, taeda.sparse_csc)
        else values.transpose(at, at + 1)
    )
    made = Compressed(TURNED[parts.layout], parts.compressed, parts.plain, moved.detach())
    return built(made, moved, size)


@rule("unsqueeze", "unsqueeze_copy", layouts=COO)
def unsqueeze(x: Tensor, dim: int) -> Any:
    at = dimension(dim, x.dim() + 1)
    parts, values = raw_entries(x)
    size = [*x.shape[:at], 1, *x.shape[at:]]
    count = int(parts.indices.size(0))
    if at > count:
        wide = values.unsqueeze(at - count + 1)
        return built(Coo(parts.indices, wide.detach(), parts.is_coalesced), wide, size)
    zeros = (
        taeda.zeros_like(parts.indices[:1])
        if count
        else parts.indices.new_zeros((1, values.shape[0]))
    )
    indices = taeda.cat([parts.indices[:at], zeros, parts.indices[at:]])
    return built(Coo(indices, parts.values, parts.is_coalesced), values, size)


@rule("squeeze", "squeeze_copy", layouts=COO)
def squeeze(x: Tensor) -> Any:
    return squeeze_dims(x, [dim for dim, n in enumerate(x.shape) if n == 1])


@rule("squeeze.dim", "squeeze_copy.dim", layouts=COO)
def squeeze_dim(x: Tensor, dim: int) -> Any:
    return squeeze_dims(x, [dim])


@rule("squeeze.dims", "squeeze_copy.dims", layouts=COO)
def squeeze_dims(x: Tensor, dim: Any) -> Any:
    gone = {dimension(d, x.dim()) for d in dim}
    gone = {d for d in gone if x.shape[d] == 1}
    parts, values = raw_entries(x)
    count = int(parts.indices.size(0))
    kept = [d for d in range(count) if d not in gone]
    if not kept:
        return NotImplemented  # nothing would be sparse any more
    narrow = values.squeeze(tuple(d - count + 1 for d in gone if d >= count))
    size = [n for d, n in enumerate(x.shape) if d not in gone]
    return built(Coo(parts.indices[kept], narrow.detach(), parts.is_coalesced), narrow, size)


# ---- writes ----


def _zero(x: Tensor) -> Tensor:
    if x.layout is taeda.strided:
        return NotImplemented
    writes(x)
    return take(x, zeros_like(x.detach()), "zero")


def _copy_into(self: Tensor, src: Tensor, non_blocking: bool = False) -> Any:
    if self.layout is taeda.strided:
        return self.copy_(src.to_dense())
    if src.layout is not self.layout or src.shape != self.shape:
        raise RuntimeError(
            f"copy_: a tensor of {self.layout} and {tuple(self.shape)} takes over no tensor of "
            f"{src.layout} and {tuple(src.shape)}"
        )
    writes(self)
    made = src.detach().to(dtype=self.dtype, device=self.device).clone()
    parts = core.parts_of(made)
    if isinstance(parts, Compressed):  # indices stay in their dtype
        kept = parts_of(self).plain.dtype if max(*self.shape, parts.plain.numel()) < 2**31 else None
        own = parts.compressed.to(dtype=kept), parts.plain.to(dtype=kept)
        made = tensor_of(Compressed(parts.layout, *own, parts.values), made.shape)
    return take(self, made, "copy")


for _layout in ALL:
    core.layout_rules(_layout, False).update({"zero_": _zero, "copy_": _copy_into})
    core.layout_rules(_layout, True).update({"zero_": _zero, "copy_": _copy_into})
