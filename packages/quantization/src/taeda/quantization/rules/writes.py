"""Writes into quantized tensors: floats become integers with the scale that is there."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from .._affine import channel_integers
from .._parts import Quantized, is_quantized, parts_of, tensor_of
from ._registry import call, in_place, one_scale, rule, wrapped


def _integers_for(parts: Quantized, value: Any) -> Tensor:
    """Integers of a number, of floats, or of what is quantized, with the scale of `parts`."""
    if is_quantized(value):
        value = parts_of(value, "copy_").floats()
    if not isinstance(value, Tensor):
        value = taeda.tensor(float(value), device=parts.integers.device)
    if parts.axis is None:
        return parts.integers_of(value)
    wide = value.float().expand(parts.integers.shape)
    return channel_integers(wide, parts.scale, parts.zero_point, parts.axis, parts.dtype)


def _is_same(a: Quantized, b: Quantized) -> bool:
    if a.scheme is not b.scheme or a.dtype is not b.dtype or a.axis != b.axis:
        return False
    if a.axis is None:
        return bool(a.scale == b.scale and a.zero_point == b.zero_point)
    return taeda.equal(a.scale, b.scale) and taeda.equal(a.zero_point, b.zero_point)


def _copy(self: Tensor, src: Tensor, non_blocking: bool = False) -> Any:
    if not is_quantized(self):
        raise RuntimeError(
            "copy_: a quantized tensor is not copied into a plain one: use dequantize() or int_repr()"
        )
    parts = parts_of(self, "copy_")
    if is_quantized(src):
        other = parts_of(src, "copy_")
        if other.dtype is not parts.dtype:
            raise RuntimeError(
                f"copy_: a tensor of {parts.dtype} takes none of {other.dtype}: dequantize() it first"
            )
        if not _is_same(parts, other) and parts.axis == other.axis is None:
            # as PyTorch does: the tensor takes over the scale as well
            parts.scale, parts.zero_point = other.scale, other.zero_point
        if _is_same(parts, other):
            parts.integers.copy_(other.integers)
            return self
    elif not src.is_floating_point():
        raise RuntimeError(f"copy_: floats are quantized, but got {src.dtype}: use src.float()")
    parts.integers.copy_(_integers_for(parts, src))
    return self


for _rows in (rule, in_place):
    _rows("copy_", "copy_.Tensor", "copy")(_copy)


def _fill(self: Tensor, value: Any) -> Tensor:
    parts = parts_of(self, "fill_")
    parts.integers.copy_(_integers_for(parts, value))
    return self


def _zero(self: Tensor) -> Tensor:
    return _fill(self, 0.0)


for _rows in (rule, in_place):
    _rows("fill_.Scalar", "fill_.Tensor", "fill.Scalar", "fill.Tensor")(_fill)
    _rows("zero_", "zero")(_zero)


@rule("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(self: Tensor, mask: Tensor, value: Any) -> Any:
    if not is_quantized(self):
        return NotImplemented
    parts = one_scale(self, "masked_fill")
    return wrapped(parts.integers.masked_fill(mask, _integers_for(parts, value)), parts)


@in_place("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Any:
    if not is_quantized(self):
        return NotImplemented
    parts = one_scale(self, "masked_fill_")
    parts.integers.masked_fill_(mask, _integers_for(parts, value))
    return self


@rule("index_put")
def index_put(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Any:
    if not is_quantized(self) or accumulate:
        return NotImplemented
    parts = one_scale(self, "index_put")
    return wrapped(parts.integers.index_put(indices, _integers_for(parts, values)), parts)


def _index_put(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Any:
    if not is_quantized(self) or accumulate:
        return NotImplemented
    parts = one_scale(self, "index_put_")
    parts.integers.index_put_(indices, _integers_for(parts, values))
    return self


for _rows in (rule, in_place):
    _rows("index_put_")(_index_put)
in_place("index_put")(_index_put)


# ---- joins: the scale of the first ----


def _as_first(tensors: Any, name: str) -> tuple[Quantized, list[Tensor]]:
    """(parts of the first, integers of all with its scale)."""
    if not all(map(is_quantized, tensors)):
        raise NotImplementedError(
            f"{name}: quantized tensors and plain ones are not joined: quantize them all, or dequantize() all"
        )
    all_parts = [parts_of(x, name) for x in tensors]
    first = all_parts[0]
    if any(part.dtype is not first.dtype for part in all_parts):
        raise RuntimeError(f"{name}: wanted one dtype, but got {[str(p.dtype) for p in all_parts]}")
    if all(_is_same(first, part) for part in all_parts):
        return first, [part.integers for part in all_parts]
    if any(part.axis is not None for part in all_parts):
        raise RuntimeError(f"{name}: tensors with scales for channels want the same ones")
    return first, [requantized(part, first) for part in all_parts]


def requantized(part: Quantized, to: Quantized) -> Tensor:
    """The integers of `part` with the scale of `to`."""
    return part.integers if _is_same(part, to) else to.integers_of(part.floats())


def _along_channels(first: Quantized, tensors: Any, dim: int) -> bool:
    return first.axis is not None and dim % max(first.integers.dim(), 1) == first.axis


@rule("cat")
def cat(tensors: Any, dim: int = 0) -> Tensor:
    first, integers = _as_first(tensors, "cat")
    made = taeda.cat(integers, dim)
    if not _along_channels(first, tensors, dim):
        return tensor_of(first.like(made))
    all_parts = [parts_of(x, "cat") for x in tensors]
    scale = taeda.cat([part.scale for part in all_parts])
    zero = taeda.cat([part.zero_point for part in all_parts])
    return tensor_of(Quantized(made, first.dtype, scale, zero, first.axis, first.scheme))


@rule("stack")
def stack(tensors: Any, dim: int = 0) -> Any:
    first, integers = _as_first(tensors, "stack")
    if first.axis is not None:
        return NotImplemented
    return tensor_of(first.like(taeda.stack(integers, dim)))


def _beside(row: str) -> None:
    @rule(row)
    def run(tensors: Any) -> Any:
        first, integers = _as_first(tensors, row)
        if first.axis is not None:
            return NotImplemented
        return tensor_of(first.like(call(row, integers)))


for _row in ("hstack", "vstack", "row_stack", "dstack", "column_stack"):
    _beside(_row)


@rule("constant_pad_nd", "pad")
def pad(x: Tensor, pad: Any, *how: Any) -> Any:
    parts = one_scale(x, "pad")
    mode, value = (how if len(how) == 2 else ("constant", *how)) if how else ("constant", 0)
    if mode != "constant":
        return wrapped(call("pad", parts.integers, pad, mode, value), parts)
    number = int(_integers_for(parts, value or 0.0).item())
    return wrapped(call("constant_pad_nd", parts.integers, pad, number), parts)


# ---- one number ----


@rule("_local_scalar_dense")
def item(x: Tensor) -> Any:
    return one_scale(x, "item").floats().item()


@rule("is_nonzero")
def is_nonzero(x: Tensor) -> Any:
    return bool(one_scale(x, "is_nonzero").floats().item())


@rule("equal")
def equal(self: Tensor, other: Tensor) -> bool:
    """The same integers, with the same scales."""
    if not (is_quantized(self) and is_quantized(other)):
        return False
    a, b = parts_of(self, "equal"), parts_of(other, "equal")
    return _is_same(a, b) and taeda.equal(a.integers, b.integers)
