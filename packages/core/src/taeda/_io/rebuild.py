"""From what a file holds to tensors; every number is checked before it is used."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

from .safetensors import Entry, FormatError, Header, is_count
from .storages import CODES
from .tree import dtype_named

__all__ = ["tensor_of_entry", "tensor_of_row"]

_NAMES = {code: name for name, code in CODES.items()}


def tensor_of_entry(entry: Entry, base: Tensor | None) -> Tensor:
    """The tensor that a plain safetensors entry is."""
    dtype = getattr(taeda, _NAMES[entry.dtype])
    if base is None:
        return taeda.empty(entry.shape, dtype=dtype, device="meta")
    return _core.on_storage(base, dtype, entry.shape, _row_major(entry.shape), 0)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * max(size, 1))
    return tuple(reversed(strides[: len(shape)]))


def tensor_of_row(
    row: Any, header: Header, bases: dict[str, Tensor | None], to_meta: bool
) -> Tensor:
    name, dtype, shape, strides, offset, marks = _checked_row(row)
    if name is None or to_meta:
        if name is None and "meta" not in marks:
            raise FormatError("a tensor names no entry")
        made = taeda.empty_strided(shape, strides, dtype=dtype, device="meta")
    elif name not in header.entries:
        raise FormatError(f"a tensor names an entry that is not there: {name!r}")
    else:
        _check_inside(header.entries[name], name, dtype, shape, strides, offset)
        made = _core.on_storage(bases[name], dtype, shape, strides, offset)
    return _with_marks(made, marks)


def _checked_row(row: Any) -> tuple[Any, Any, tuple[int, ...], tuple[int, ...], int, list[str]]:
    if not isinstance(row, list) or len(row) != 6:
        raise FormatError(f"a tensor is described by six values, got {row!r:.80}")
    name, dtype, shape, strides, offset, marks = row
    geometry = (shape, strides)
    if not all(isinstance(x, list) and all(map(is_count, x)) for x in geometry):
        raise FormatError(
            f"shape and strides are lists of counts, got {shape!r:.80}, {strides!r:.80}"
        )
    if len(shape) != len(strides) or len(shape) > 64 or not is_count(offset):
        raise FormatError(
            f"shape {shape!r:.80}, strides {strides!r:.80} and offset {offset!r} do not fit"
        )
    if not isinstance(marks, list) or not all(isinstance(mark, str) for mark in marks):
        raise FormatError(f"marks are texts, got {marks!r:.80}")
    if name is not None and not isinstance(name, str):
        raise FormatError(f"an entry's name is a text, got {name!r:.80}")
    return name, dtype_named(dtype), tuple(shape), tuple(strides), offset, marks


def _check_inside(
    entry: Entry,
    name: str,
    dtype: Any,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
) -> None:
    if 0 in shape:
        end = 0
    else:
        last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        end = (last + 1) * dtype.itemsize
    if end > entry.nbytes:
        raise FormatError(
            f"a tensor of shape {list(shape)} and strides {list(strides)} at offset {offset} reaches "
            f"to byte {end} of entry {name!r}, which has {entry.nbytes}"
        )


def _with_marks(made: Tensor, marks: list[str]) -> Tensor:
    if "conj" in marks and made.is_complex():
        made = made.conj()
    differentiable = made.is_floating_point() or made.is_complex()
    requires_grad = "requires_grad" in marks and differentiable
    if "Parameter" in marks:
        return taeda.nn.Parameter(made, requires_grad)  # upward: a file with parameters
    return made.requires_grad_() if requires_grad else made
