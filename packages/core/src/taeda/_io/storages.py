"""What has to be saved for some tensors: pieces of storages, and how each tensor lies in one.

Only what the tensors show is written. Tensors whose bytes touch or overlap lie in one piece, so they share
memory again when they are loaded; bytes between them that none shows are written as zeros.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda._layers import DisableTorchFunctionSubclass
from taeda._layers.foreign import OWN
from taeda._native import core as _core

from .geometry import extent, is_dense, reached
from .layouts import refuse_names
from .safetensors import json_counts, json_text
from .safetypes import name_of

__all__ = ["CODES", "Collector", "Piece", "dtype_name"]

#: the format's name of each dtype
CODES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "int16": "I16",
    "uint16": "U16",
    "int32": "I32",
    "uint32": "U32",
    "int64": "I64",
    "uint64": "U64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
}
_PAIRS = {"complex32": "F16", "complex64": "F32", "complex128": "F64"}  # real and imaginary part
_SPARSE = 4  # a view that shows less than one byte in so many is written without what lies between


@functools.cache
def _code(dtype: Any) -> tuple[str | None, tuple[int, ...]]:
    """The format's name, and the last axis that its numbers are taken apart by."""
    name = dtype_name(dtype)
    return (_PAIRS[name], (2,)) if name in _PAIRS else (CODES.get(name), ())


@functools.cache
def dtype_name(dtype: Any) -> str:
    """ "float32" for taeda.float32."""
    return str(dtype).rpartition(".")[2]


@dataclass(slots=True)
class Row:
    """A tensor that is saved, as one of plain numbers in a storage, and what it is besides."""

    tensor: Tensor
    path: str
    marks: list[str]
    begin: int = 0  # bytes in its storage that it reaches
    end: int = 0
    piece: Piece | None = None
    placed: bool = True  # not on the meta device
    dense: bool = False  # shows every byte from begin to end, in order

    def measure(self) -> None:
        """Find out which bytes it reaches."""
        self.begin, self.end = extent(self.tensor)
        self.dense = self.tensor.is_contiguous()

    def described(self) -> str:
        """[piece, dtype, shape, strides, offset, marks] in JSON."""
        tensor, piece, offset = self.tensor, self.piece, 0
        if piece is not None and self.end > self.begin:
            offset = (self.begin - piece.begin) // tensor.element_size()
        name = json_text(piece.name) if piece else "null"
        geometry = f"{json_counts(tensor.shape)},{json_counts(tensor.stride())},{offset}"
        marks = ",".join(map(json_text, self.marks)) if self.marks else ""
        return f'[{name},"{dtype_name(tensor.dtype)}",{geometry},[{marks}]]'


@dataclass(slots=True)
class Piece:
    """Bytes that become an entry of the file: a part of a storage that some tensors reach."""

    name: str
    rows: list[Row]
    begin: int
    end: int
    holes: bool = False

    @property
    def nbytes(self) -> int:
        return self.end - self.begin

    @property
    def align(self) -> int:
        return max([row.tensor.element_size() for row in self.rows])

    def data(self) -> memoryview:
        """The bytes, with zeros for those that no tensor shows."""
        whole = _core.storage_bytes(self.rows[0].tensor).cpu()  # itself, unless it lies on a device
        if not self.holes:
            shown = memoryview(whole)
            return shown if shown.nbytes == self.nbytes else shown[self.begin : self.end]
        mask = taeda.zeros(self.nbytes, dtype=taeda.bool)
        for row in self.rows:
            _mark(mask, row, self.begin)
        return memoryview(whole[self.begin : self.end] * mask)

    def shape(self) -> tuple[str, tuple[int, ...]]:
        """The format's dtype and shape: those of the first tensor if it is the piece, else flat."""
        row = self.rows[0]
        code, pair = _code(row.tensor.dtype)
        if code is None or any(r.tensor.dtype != row.tensor.dtype for r in self.rows[1:]):
            return "U8", (self.nbytes,)
        whole = row.dense and row.end - row.begin == self.nbytes
        shape = row.tensor.shape if whole else (self.nbytes // row.tensor.element_size(),)
        return code, (*shape, *pair)


def _mark(shown: Tensor, row: Row, begin: int) -> None:
    """Set the bytes that a tensor shows; for windows that overlap, all that they span."""
    tensor, item = row.tensor, row.tensor.element_size()
    shape = reached(tensor)
    if math.prod(shape) * item > row.end - row.begin:
        shown[row.begin - begin : row.end - begin] = True
        return
    in_bytes = (*(stride * item for stride in tensor.stride()), 1)
    _core.on_storage(shown, taeda.bool, (*shape, item), in_bytes, row.begin - begin).fill_(True)


class Collector:
    """Takes the tensors of an object, and finds out which bytes have to be written for them."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.kept: list[Tensor] = []  # keeps ids from being used again
        self.rows: list[Row] = []

    def keep(self, tensor: Tensor, path: str, marks: list[str]) -> tuple[int, bool]:
        """The number of a tensor, and whether it is new; the same object has the same number."""
        found = self.numbers.get(id(tensor))
        if found is not None:
            return found, False
        self.kept.append(tensor)
        number = self.numbers[id(tensor)] = len(self.rows)
        row = _row(tensor, path)
        row.marks += marks
        if row.placed:
            row.measure()
        self.rows.append(row)
        return number, True

    def pieces(self) -> list[Piece]:
        """The pieces that the tensors lie in, those of the widest elements first, so that all are aligned."""
        groups: dict[Any, list[Row]] = {}
        for number, row in enumerate(self.rows):
            if row.placed:
                key = _core.storage_address(row.tensor) if row.end > row.begin else -1 - number
                groups.setdefault(key, []).append(row)
        names = _Names()
        made = [_piece(rows, names) for group in groups.values() for rows in _clusters(group)]
        return sorted(made, key=lambda piece: -piece.align)


def _clusters(rows: list[Row]) -> list[list[Row]]:
    """The tensors on one storage in groups that do not touch each other."""
    return [rows] if len(rows) == 1 else list(_apart(rows))


def _apart(rows: list[Row]) -> Iterator[list[Row]]:
    rows = sorted(rows, key=lambda row: row.begin)
    together, end = [rows[0]], rows[0].end
    for row in rows[1:]:
        if row.begin > end:
            yield together
            together = []
        together.append(row)
        end = max(end, row.end)
    yield together


def _piece(rows: list[Row], names: _Names) -> Piece:
    name = names.new(rows[0].path)
    if len(rows) == 1:
        [row] = rows
        if not row.dense:
            _compact(row)
        row.piece = made = Piece(name, rows, row.begin, row.end)
    else:
        made = Piece(name, rows, min([r.begin for r in rows]), max([r.end for r in rows]))
        made.begin -= made.begin % made.align  # offsets are whole in every dtype
        for row in rows:
            row.piece = made
    made.holes = _has_holes(made)
    return made


def _has_holes(piece: Piece) -> bool:
    """Whether no tensor by itself shows every byte."""
    size = piece.nbytes
    return size > 0 and not any(
        row.end - row.begin == size if row.dense else is_dense(row.tensor, size)
        for row in piece.rows
    )


def _compact(row: Row) -> None:
    """Copy a view that shows little of what it spans, without what lies between."""
    shown = row.tensor.numel() * row.tensor.element_size()
    if shown * _SPARSE < row.end - row.begin:
        row.tensor = row.tensor.clone()
        row.measure()


class _Names:
    """Names of entries: the place of the first tensor, with a number if that is taken."""

    def __init__(self) -> None:
        self.taken = {"__metadata__"}

    def new(self, path: str) -> str:
        if not path.isascii():  # half of a pair of surrogates is no text
            path = path.encode(errors="replace").decode()
        name = path = path or "tensor"
        copies = 1
        while name in self.taken:
            copies += 1
            name = f"{path}#{copies}"
        self.taken.add(name)
        return name


def _row(tensor: Tensor, path: str) -> Row:
    """The strided tensor that holds the numbers, and marks for what it is besides."""
    marks = _class_marks(tensor, path)
    if _core.parts_of(tensor) is not None:
        raise NotImplementedError(f"cannot save '{path}': its layout is {tensor.layout}")
    refuse_names(tensor, f"'{path}'")
    if tensor.requires_grad:
        marks.append("requires_grad")
    plain = _plain(tensor)
    if plain.is_neg():
        plain = taeda._neg_view(plain)  # the numbers as they lie in memory
        marks.append("neg")
    if plain.is_conj():
        plain = plain.conj()
        marks.append("conj")
    if placed := plain.device.type != "meta":
        return Row(plain, path, marks)
    marks.append("meta")
    return Row(plain, path, marks, placed=placed)


#: what lazy modules hold until their first call tells the shape
UNINITIALIZED = frozenset({"UninitializedParameter", "UninitializedBuffer"})


def _plain(tensor: Tensor) -> Tensor:
    """The numbers alone; of one that waits for its shape, none."""
    if type(tensor).__name__ in UNINITIALIZED:
        with DisableTorchFunctionSubclass():  # it refuses operations
            return tensor.detach().as_subclass(Tensor)
    plain = tensor.detach()
    return plain if type(plain) is Tensor else plain.as_subclass(Tensor)


def _class_marks(tensor: Tensor, path: str) -> list[str]:
    kind = type(tensor)
    if kind is Tensor:
        return []
    if kind.__module__.startswith(OWN) and kind.__name__ in ("Parameter", *UNINITIALIZED):
        return [kind.__name__]
    name = name_of(kind)
    if name is None:
        raise TypeError(
            f"cannot save '{path}', a {kind.__name__}: convert it to a plain Tensor first, or allow "
            f"the class with taeda.serialization.add_safe_globals([{kind.__name__}])"
        )
    return [f"class {name}"]
