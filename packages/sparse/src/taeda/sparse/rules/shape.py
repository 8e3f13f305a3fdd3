"""Copies, other dtypes and devices, transposed tensors, zeros alike."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core

from .._graph import built, raw_entries
from .._parts import Coo, Csr, parts_of, tensor_of
from ._registry import BOTH, COO, rule, take, writes


@rule("detach", "alias")
def detach(x: Tensor) -> Any:
    return tensor_of(parts_of(x), x.shape)


@rule("contiguous")
def contiguous(x: Tensor, memory_format: Any = None) -> Tensor:
    return x


@rule("clone")
def clone(x: Tensor, memory_format: Any = None) -> Tensor:
    parts, values = raw_entries(x)
    return built(_copied(parts), values.clone(), x.shape)


def _copied(parts: Any) -> Any:
    if isinstance(parts, Csr):
        return Csr(parts.crow.clone(), parts.col.clone(), parts.values)
    return Coo(parts.indices.clone(), parts.values, parts.is_coalesced)


def _moved(parts: Any, device: Any) -> Any:
    if isinstance(parts, Csr):
        return Csr(parts.crow.to(device), parts.col.to(device), parts.values)
    return Coo(parts.indices.to(device), parts.values, parts.is_coalesced)


@rule("_to_copy")
def to_copy(
    x: Tensor, dtype: Any = None, device: Any = None, non_blocking: bool = False,
    memory_format: Any = None,
) -> Tensor:  # fmt: skip
    parts, values = raw_entries(x)
    made = values.to(dtype=dtype or x.dtype, device=device or x.device, copy=True)
    moved = _moved(parts, device) if device is not None else _copied(parts)
    return built(moved, made, x.shape)


# ---- transposed ----


@rule("t", layouts=COO)
def t(x: Tensor) -> Tensor:
    if x.dim() > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {x.dim()}D")
    return x if x.dim() < 2 else transpose(x, 0, 1)


@rule("numpy_T", "mT", layouts=COO)
def reversed_dims(x: Tensor) -> Any:
    return transpose(x, 0, 1) if x.dim() == 2 else NotImplemented


@rule("transpose.int", layouts=COO)
def transpose(x: Tensor, dim0: int, dim1: int) -> Any:
    a, b = (_wrapped(d, x.dim()) for d in (dim0, dim1))
    count = x.sparse_dim()
    if a >= count or b >= count:
        return NotImplemented  # a dense dimension
    parts, values = raw_entries(x)
    order = list(range(count))
    order[a], order[b] = order[b], order[a]
    size = list(x.shape)
    size[a], size[b] = size[b], size[a]
    moved = Coo(parts.indices[order], parts.values, a == b and parts.is_coalesced)
    return built(moved, values, size)


def _wrapped(dim: int, rank: int) -> int:
    if not -rank <= dim < rank:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})"
        )
    return dim % rank


# ---- zeros, and writes ----


@rule("zeros_like", "empty_like")
def zeros_like(
    x: Tensor, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None,
    memory_format: Any = None,
) -> Any:  # fmt: skip
    if layout is not None or pin_memory:
        return NotImplemented
    parts = parts_of(x)
    values = parts.values.new_zeros((0, *parts.values.shape[1:]), dtype=dtype, device=device)
    if isinstance(parts, Csr):
        made: Any = Csr(taeda.zeros_like(parts.crow), parts.col[:0], values)
    else:
        made = Coo(parts.indices[:, :0], values, True)
    return tensor_of(made, x.shape)


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
    return take(self, src.detach().to(dtype=self.dtype, device=self.device).clone(), "copy")


for _layout in BOTH:
    core.layout_rules(_layout, False).update({"zero_": _zero, "copy_": _copy_into})
    core.layout_rules(_layout, True).update({"zero_": _zero, "copy_": _copy_into})
