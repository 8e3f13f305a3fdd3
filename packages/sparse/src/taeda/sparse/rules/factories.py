"""Tensors of zeros of a layout that is asked for, or of a tensor's own."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from .._compressed import BLOCKED, BY_ROWS, Compressed
from .._parts import Coo, parts_of, tensor_of
from ._registry import ALL, rule

_NUMBERED = tuple(layout for layout in ALL if layout not in BLOCKED)


@rule("zeros", "empty.memory_format", layouts=_NUMBERED)
def zeros(
    size: Any,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> Any:
    """No entries: of coordinates for each dimension, or of matrices in batches."""
    if pin_memory or memory_format is not None:
        return NotImplemented
    if any(n < 0 for n in size):
        raise RuntimeError(f"a size has no negative numbers, but got {list(size)}")
    values = taeda.empty(0, dtype=dtype, device=device)
    if layout is taeda.sparse_coo:
        indices = taeda.empty((len(size), 0), dtype=taeda.int64, device=values.device)
        return tensor_of(Coo(indices, values, True), size)
    return _compressed_zeros(size, layout, values)


def _compressed_zeros(size: Any, layout: Any, values: Tensor) -> Tensor:
    if len(size) < 2:
        raise RuntimeError(
            f"a tensor of layout {layout} has at least 2 dimensions, but got {list(size)}"
        )
    batch, count = tuple(size[:-2]), int(size[-2 if layout in BY_ROWS else -1])
    compressed = taeda.zeros((*batch, count + 1), dtype=taeda.int64, device=values.device)
    plain = taeda.empty((*batch, 0), dtype=taeda.int64, device=values.device)
    return tensor_of(Compressed(layout, compressed, plain, values.reshape(*batch, 0)), size)


@rule("new_zeros", "new_empty", layouts=_NUMBERED)
def new_zeros(
    x: Tensor,
    size: Any,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> Any:
    wanted = x.layout if layout is None else layout
    if wanted not in _NUMBERED:
        return NotImplemented
    return zeros(size, dtype or x.dtype, wanted, device or x.device, pin_memory)


@rule("zeros_like", "empty_like")
def zeros_like(
    x: Tensor,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> Any:
    if pin_memory:
        return NotImplemented
    if layout is taeda.strided:
        return taeda.zeros(x.shape, dtype=dtype or x.dtype, device=device or x.device)
    if layout not in (None, x.layout):
        return new_zeros(x, x.shape, dtype, layout, device)
    return tensor_of(_emptied(parts_of(x), dtype, device), x.shape)


def _emptied(parts: Any, dtype: Any, device: Any) -> Any:
    """The same without an entry."""
    if isinstance(parts, Compressed):
        plain, at = parts.plain[..., :0], parts.plain.dim()
        shape = (*plain.shape, *parts.values.shape[at:])
        values = parts.values.new_zeros(shape, dtype=dtype, device=device)
        return Compressed(parts.layout, taeda.zeros_like(parts.compressed), plain, values)
    values = parts.values.new_zeros((0, *parts.values.shape[1:]), dtype=dtype, device=device)
    return Coo(parts.indices[:, :0], values, True)
