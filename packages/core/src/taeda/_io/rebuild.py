"""From what a file holds to tensors; every number is checked before it is used."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

from . import safetypes
from .geometry import row_major
from .safetensors import Entry, FormatError, Header, are_counts, is_count
from .storages import CODES, UNINITIALIZED
from .tree import dtype_named

__all__ = ["alignments", "entries_of_data", "tensor_of_entry", "tensor_of_row"]

#: newer names are read and not written, so that older tools read our files
_NAMES = {code: name for name, code in CODES.items()} | {
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "C64": "complex64",
}


def tensor_of_entry(entry: Entry, base: Tensor | None) -> Tensor:
    """The tensor that a plain safetensors entry is."""
    dtype = getattr(taeda, _NAMES[entry.dtype])
    if base is None:
        return taeda.empty(entry.shape, dtype=dtype, device="meta")
    return _core.on_storage(base, dtype, entry.shape, row_major(entry.shape), 0)


def tensor_of_row(row: Any, header: Header, bases: dict[str, Tensor | None]) -> Tensor:
    """The tensor that a row of the metadata describes, on the bytes of its entry; on meta without them."""
    name, dtype, shape, strides, offset, marks = _checked_row(row)
    if name is None and "meta" not in marks:
        raise FormatError("a tensor names no entry")
    if name is not None and name not in header.entries:
        raise FormatError(f"a tensor names an entry that is not there: {name!r:.100}")
    base = None if name is None else bases[name]
    if name is not None:
        _check_inside(header.entries[name], name, dtype, shape, strides, offset)
    if base is None:
        made = taeda.empty_strided(shape, strides, dtype=dtype, device="meta")
    else:
        made = _core.on_storage(base, dtype, shape, strides, offset)
    return _with_marks(made, marks)


def entries_of_data(rows: list[Any]) -> set[Any]:
    """The entries whose numbers are wanted wherever tensors go."""
    marked = [row for row in rows if isinstance(row, list) and row and row[-1] == ["data"]]
    return {_checked_row(row)[0] for row in marked}


def alignments(rows: list[Any]) -> dict[Any, int]:
    """The bytes that each entry must begin at a multiple of, for the tensors that lie in it."""
    made: dict[Any, int] = {}
    for row in rows:
        name, dtype, *_ = _checked_row(row)
        made[name] = max(made.get(name, 1), dtype.itemsize)
    return made


def _checked_row(row: Any) -> tuple[Any, Any, tuple[int, ...], tuple[int, ...], int, list[str]]:
    if not isinstance(row, list) or len(row) != 6:
        raise FormatError(f"a tensor is described by six values, got {row!r:.80}")
    name, dtype, shape, strides, offset, marks = row
    if type(shape) is not list or type(strides) is not list or not are_counts(shape + strides):
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
    if not marks:
        return made
    flags = {mark for mark in marks if not mark.startswith("class ")}
    if unknown := flags - _MARKS:
        raise FormatError(
            f"the file says {', '.join(sorted(unknown))} of a tensor, which this version does not "
            "know: a newer one wrote it"
        )
    if "conj" in flags and not made.is_complex():
        raise FormatError(f"a tensor of {made.dtype} is called a conjugate")
    made = made.conj() if "conj" in flags else made
    made = taeda._neg_view(made) if "neg" in flags else made
    differentiable = made.is_floating_point() or made.is_complex()
    requires_grad = "requires_grad" in flags and differentiable
    for name in UNINITIALIZED & flags:
        if made.numel():
            raise FormatError(f"the file holds a tensor of shape {list(made.shape)} as {name}")
        kind = getattr(taeda.nn.parameter, name)  # upward: a file with the state of lazy modules
        return kind(requires_grad, made.device, made.dtype)
    if "Parameter" in flags:
        return taeda.nn.Parameter(made, requires_grad)  # upward: a file with parameters
    for mark in marks:
        made = _of_class(made, mark.removeprefix("class ")) if mark not in flags else made
    return made.requires_grad_() if requires_grad else made


_MARKS = {"Parameter", "requires_grad", "conj", "neg", "meta", "data", *UNINITIALIZED}


def _of_class(made: Tensor, name: str) -> Tensor:
    kind = safetypes.type_named(name)
    if not isinstance(kind, type) or not issubclass(kind, Tensor):
        raise FormatError(
            f"the file holds a tensor of class {name}; import the class and allow it with "
            "taeda.serialization.add_safe_globals([the class])"
        )
    return Tensor.as_subclass(made, kind)
