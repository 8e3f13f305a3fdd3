"""GGUF: the files of llama.cpp. Little-endian, versions 2 and 3.

    "GGUF" | version | number of tensors | number of facts
    facts: name, kind, value | tensors: name, dimensions (fastest first), type, offset | padding | data

Plain numbers become tensors. Blocks of quantized ones become `Blocks`, if `blocks.KINDS` has their kind, and
are refused by name if not.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

from .blocks import KINDS, Blocks, Kind
from .budget import Budget
from .geometry import row_major
from .opened import opened
from .place import Place
from .safetensors import FormatError
from .source import Source

__all__ = ["Tensors", "read_gguf"]

_DTYPES = {
    0: "float32",
    1: "float16",
    24: "int8",
    25: "int16",
    26: "int32",
    27: "int64",
    28: "float64",
}
_DTYPES[30] = "bfloat16"
_BLOCKS = """2 Q4_0 3 Q4_1 6 Q5_0 7 Q5_1 8 Q8_0 9 Q8_1 10 Q2_K 11 Q3_K 12 Q4_K 13 Q5_K 14 Q6_K 15 Q8_K
16 IQ2_XXS 17 IQ2_XS 18 IQ3_XXS 19 IQ1_S 20 IQ4_NL 21 IQ3_S 22 IQ2_S 23 IQ4_XS 29 IQ1_M 34 TQ1_0 35 TQ2_0
39 MXFP4""".split()
_BLOCK_NAMES = dict(zip(map(int, _BLOCKS[::2]), _BLOCKS[1::2], strict=True))
_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_TEXT, _ARRAY = 8, 9
_WINDOW = 1 << 20
_DEEPEST = 4
_MOST_DIMS = 8


class Tensors(dict[str, Tensor | Blocks]):
    """The tensors of a file by name, and in `metadata` the facts that it tells besides. Tensors of
    quantized numbers are `Blocks`.
    """

    metadata: dict[str, Any]


@dataclass(frozen=True)
class _Entry:
    name: str
    shape: tuple[int, ...]
    dtype: Any  # of blocks: uint8
    block: str  # its kind, or ""
    offset: int

    @property
    def stored(self) -> tuple[int, ...]:
        """The shape in elements of `dtype`."""
        if not self.block:
            return self.shape
        kind = KINDS[self.block]
        return (*self.shape[:-1], self.shape[-1] // kind.numbers * kind.nbytes)

    @property
    def nbytes(self) -> int:
        return math.prod(self.stored) * self.dtype.itemsize


def read_gguf(f: Any, map_location: Any, mmap: bool) -> Tensors:
    """The tensors in a GGUF file, by name; what else it tells is in their `metadata`."""
    with opened(f, mmap) as source:
        _, entries, start, alignment = _describe(source, _Skimmer(source))
        _check_layout(entries, start, alignment, source.size)
        facts, *_ = _describe(source, _Reader(source))
        place = Place(map_location)
        made = Tensors((e.name, _made(source, e, start, place)) for e in entries)
        made.metadata = facts
        return made


def _made(source: Source, entry: _Entry, start: int, place: Place) -> Tensor | Blocks:
    made = _tensor(source, entry, start, place)
    return Blocks(entry.block, entry.shape, made) if entry.block else made


def _tensor(source: Source, entry: _Entry, start: int, place: Place) -> Tensor:
    if place.is_meta("cpu"):
        return taeda.empty(entry.stored, dtype=entry.dtype, device="meta")
    data, _ = source.tensor(start + entry.offset, entry.nbytes)
    data = place.moved(data, "cpu")
    return _core.on_storage(data, entry.dtype, entry.stored, row_major(entry.stored), 0)


def _check_layout(entries: list[_Entry], start: int, alignment: int, size: int) -> None:
    """FormatError if tensors do not follow one another, up to the end of the file."""
    here = 0
    for entry in sorted(entries, key=lambda e: (e.offset, e.nbytes)):
        wanted = -(-here // alignment) * alignment
        if entry.offset != wanted:
            kind = "overlaps the one before it" if entry.offset < wanted else "leaves a hole"
            raise FormatError(
                f"tensor {entry.name!r:.100} {kind}: begins at {entry.offset}, not at {wanted}"
            )
        here = entry.offset + entry.nbytes
        if start + here > size:
            raise FormatError(
                f"the file is truncated: tensor {entry.name!r:.100} reaches to byte {start + here}, "
                f"and the file has {size}"
            )
    if size - start - here >= alignment:
        raise FormatError(f"{size - start - here} bytes follow the last tensor")


def _describe(source: Source, reader: _Reader) -> tuple[dict[str, Any], list[_Entry], int, int]:
    """Facts, tensors, where the data begin, and at multiples of what number tensors do."""
    if reader.take(4) != b"GGUF":
        raise FormatError("this is no GGUF file")
    version = reader.number("I")
    if version not in (2, 3):
        raise FormatError(
            f"this is a GGUF file of version {version}, or one in big-endian order; versions 2 and 3 in "
            "little-endian order are read: convert it with the gguf package"
        )
    tensors, facts = reader.number("Q"), reader.number("Q")
    if tensors * 24 + facts * 13 > source.size:
        raise FormatError(
            f"the file claims {tensors} tensors and {facts} facts, more than it can hold"
        )
    told = _facts(reader, facts)
    alignment = told.get("general.alignment", 32)
    if type(alignment) is not int or not 1 <= alignment <= 1 << 20 or alignment & (alignment - 1):
        raise FormatError(f"the file's alignment is {alignment!r:.50}, no power of two")
    entries = _entries(reader, tensors, alignment)
    return told, entries, -(-reader.at // alignment) * alignment, alignment


def _facts(reader: _Reader, count: int) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for _ in range(count):
        name = reader.text()
        if name in told:
            raise FormatError(f"the fact {name!r:.100} is told twice")
        told[name] = reader.value(reader.number("I"))
    return told


def _entries(reader: _Reader, count: int, alignment: int) -> list[_Entry]:
    entries: dict[str, _Entry] = {}
    for _ in range(count):
        reader.budget.spend(1000)
        name, dims = reader.text(), reader.number("I")
        if name in entries or dims > _MOST_DIMS:
            raise FormatError(f"tensor {name!r:.100} is there twice, or has {dims} dimensions")
        shape = tuple(reader.number("Q") for _ in range(dims))[::-1]
        kind, offset = reader.number("I"), reader.number("Q")
        entry = _Entry(name, shape, *_type(name, shape, kind), offset)
        most = max(entry.nbytes, *shape, 0)
        if offset % alignment or most >= 1 << 62:
            raise FormatError(f"tensor {name!r:.100} of shape {shape} at offset {offset} cannot be")
        entries[name] = entry
    return list(entries.values())


def _type(name: str, shape: tuple[int, ...], kind: int) -> tuple[Any, str]:
    """The dtype of what is stored, and the kind of its blocks, "" for plain numbers."""
    if kind in _DTYPES:
        return getattr(taeda, _DTYPES[kind]), ""
    known = _BLOCK_NAMES.get(kind, f"the unknown type {kind}")
    if known not in KINDS:
        raise FormatError(
            f"tensor {name!r:.100} is quantized ({known}); plain numbers are read (F32, F16, BF16, F64, I8 "
            f"to I64), and blocks of {', '.join(KINDS)}: convert the file to one of those"
        )
    _check_blocks(name, shape, known, KINDS[known])
    return taeda.uint8, known


def _check_blocks(name: str, shape: tuple[int, ...], known: str, kind: Kind) -> None:
    if not shape or shape[-1] % kind.numbers:
        raise FormatError(
            f"tensor {name!r:.100} of shape {shape} is quantized ({known}), and its rows are no multiple "
            f"of {kind.numbers} numbers"
        )


class _Reader:
    """Takes numbers and texts from the beginning of a file, some of it at a time."""

    def __init__(self, source: Source) -> None:
        self.source, self.at = source, 0
        self.window, self.window_at = b"", 0
        self.budget = Budget(0)  # for facts and names; they are a small part of the file

    def take(self, count: int) -> bytes:
        here = self.at - self.window_at
        if here + count > len(self.window):
            if count > self.source.size - self.at:
                raise FormatError(
                    f"the file is truncated: {count} bytes are wanted at byte {self.at}"
                )
            size = max(count, min(_WINDOW, self.source.size - self.at))
            self.window, self.window_at, here = self.source.read(self.at, size), self.at, 0
        self.at += count
        self.budget.describe(count)
        return self.window[here : here + count]

    def number(self, code: str) -> Any:
        return struct.unpack(f"<{code}", self.take(struct.calcsize(f"<{code}")))[0]

    def text(self) -> str:
        size = self.number("Q")
        self.budget.spend(60 + 4 * size)
        try:
            return self.take(size).decode()
        except UnicodeDecodeError:
            raise FormatError(f"a text before byte {self.at} is not UTF-8") from None

    def value(self, kind: int, depth: int = 0) -> Any:
        if kind == _TEXT:
            return self.text()
        if kind == _ARRAY and depth < _DEEPEST:
            inner, count = self.number("I"), self.number("Q")
            return self.array(inner, count, depth + 1)
        if kind not in _SCALARS:
            raise FormatError(f"a fact before byte {self.at} is of the unknown kind {kind}")
        self.budget.spend(40)
        return self.number(_SCALARS[kind])

    def array(self, kind: int, count: int, depth: int) -> list[Any]:
        if kind in _SCALARS:
            size = struct.calcsize(f"<{_SCALARS[kind]}")
            if count * size > self.source.size - self.at:
                raise FormatError(f"the file is truncated: an array of {count} values is announced")
            self.budget.spend((9 if size == 1 else 41) * count)  # small ints exist already
            return list(struct.unpack(f"<{count}{_SCALARS[kind]}", self.take(count * size)))
        return [self.value(kind, depth) for _ in range(self.checked(count))]

    def checked(self, count: int) -> int:
        if count * 8 > self.source.size - self.at:
            raise FormatError(f"the file is truncated: an array of {count} values is announced")
        return count


class _Skimmer(_Reader):
    """Goes past arrays and makes nothing of them: what is wrong behind them is found before they
    take memory.
    """

    def array(self, kind: int, count: int, depth: int) -> list[Any]:
        if kind not in _SCALARS:
            for _ in range(self.checked(count)):
                self.value(kind, depth)
            return []
        size = struct.calcsize(f"<{_SCALARS[kind]}")
        if count * size > self.source.size - self.at:
            raise FormatError(f"the file is truncated: an array of {count} values is announced")
        self.budget.describe(count * size)
        self.budget.spend((9 if size == 1 else 41) * count)
        self.at += count * size
        return []
