"""The file of one rank: safetensors, with a checksum for each MiB of an entry, kept in the index.

So a part of an entry can be read and checked without the rest.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.files import crc32c
from taeda.serialization import FormatError

from ._places import Folder, parts_of, written

__all__ = ["Piece", "Stored", "read_box", "read_bytes", "write_pieces"]

BLOCK = 1 << 20  # bytes under one checksum
_AT_ONCE = 16 * BLOCK  # bytes of an entry that are held beside the tensor they go to
_ALIGNMENT = 64
_CODES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "uint16": "U16",
    "int32": "I32", "uint32": "U32", "int64": "I64", "uint64": "U64", "float16": "F16",
    "bfloat16": "BF16", "float32": "F32", "float64": "F64", "complex64": "C64",
}  # fmt: skip


@dataclass
class Piece:
    """An entry to write: its name in the file, dtype, shape, and where its values come from."""

    name: str
    dtype: taeda.dtype
    shape: Sequence[int]
    data: Callable[[], Tensor | io.BytesIO]

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass
class Stored:
    """Where an entry is: a file, its bytes there, and the checksums of their blocks."""

    file: str
    begin: int
    nbytes: int
    sums: list[int]


def bytes_of(value: Tensor | io.BytesIO) -> memoryview:
    """The values, in their order, as bytes."""
    if isinstance(value, io.BytesIO):
        return value.getbuffer()
    flat = value.detach().resolve_conj().resolve_neg().cpu().contiguous().view(-1)
    return memoryview(flat.view(taeda.uint8))


def write_pieces(path: Folder, pieces: Sequence[Piece], sync: Any) -> list[Stored]:
    """Write a file with all pieces, whole or not at all."""
    header, begins = _header(pieces)
    size = len(header) + sum(piece.nbytes for piece in pieces)
    stored = []
    with written(path, size, sync) as file:
        _write_all(file, header)
        for piece, begin in zip(pieces, begins, strict=True):
            sums = _write_piece(file, piece)
            stored.append(Stored(path.name, begin, piece.nbytes, sums))
    return stored


def _write_piece(file: Any, piece: Piece) -> list[int]:
    data, sums = bytes_of(piece.data()), []
    if data.nbytes != piece.nbytes:
        raise ValueError(
            f"{piece.name} has {data.nbytes} bytes now, and had {piece.nbytes} when the save was planned"
        )
    for begin in range(0, data.nbytes, BLOCK):
        block = bytes(data[begin : begin + BLOCK])  # a copy: another thread may change the tensor
        sums.append(crc32c(block, 0))
        _write_all(file, block)
    return sums


def _write_all(file: Any, data: bytes) -> None:
    rest = memoryview(data)
    while rest.nbytes:
        rest = rest[file.write(rest) :]


def _header(pieces: Sequence[Piece]) -> tuple[bytes, list[int]]:
    """The bytes before the first entry's, and where each entry begins in the file."""
    told, places, at = {}, [], 0
    for piece in pieces:
        code = _CODES.get(str(piece.dtype).rpartition(".")[2])
        shape = list(piece.shape) if code else [piece.nbytes]
        span = [at, at + piece.nbytes]
        name = piece.name
        while name in told or name == "__metadata__":  # the index finds pieces by their places
            name += "'"
        told[name] = {"dtype": code or "U8", "shape": shape, "data_offsets": span}
        places.append(at)
        at += piece.nbytes
    text = json.dumps(told, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    start = 8 + len(text)
    return len(text).to_bytes(8, "little") + text, [start + place for place in places]


# ---- reading ----


class Blocks:
    """The bytes of an entry, by checked blocks; the last block is kept for the next part."""

    def __init__(self, folder: Folder, stored: Stored, name: str) -> None:
        self.path, self.stored, self.name = folder / stored.file, stored, name
        self.kept: tuple[int, bytes] = (-1, b"")
        self.opened = contextlib.ExitStack()

    def __enter__(self) -> Blocks:
        try:
            size, self.read = self.opened.enter_context(parts_of(self.path))
        except FileNotFoundError:
            raise FormatError(
                f"the checkpoint is not whole: {self.path} is gone, which holds {self.name}"
            ) from None
        if size < self.stored.begin + self.stored.nbytes:
            self.opened.close()
            raise FormatError(f"the file {self.path} is truncated: {self.name} is not all there")
        return self

    def __exit__(self, *_: object) -> None:
        self.opened.close()

    def block(self, number: int) -> bytes:
        """A block. FormatError if its bytes are not those that were written."""
        if self.kept[0] != number:
            begin = number * BLOCK
            length = min(BLOCK, self.stored.nbytes - begin)
            data = self.read(length, self.stored.begin + begin)
            if len(data) != length:
                raise FormatError(
                    f"the file {self.path} is truncated: {self.name} is not all there"
                )
            if crc32c(data, 0) != self.stored.sums[number]:
                raise FormatError(
                    f"the file {self.path} is damaged: {self.name} has another checksum"
                )
            self.kept = number, data
        return self.kept[1]

    def fill(self, target: memoryview, begin: int) -> None:
        """Copy the entry's bytes from `begin` on."""
        done = 0
        while done < target.nbytes:
            number, skip = divmod(begin + done, BLOCK)
            part = memoryview(self.block(number))[skip : skip + target.nbytes - done]
            target[done : done + part.nbytes] = part
            done += part.nbytes


def read_bytes(folder: Folder, stored: Stored, name: str) -> bytes:
    """All bytes of an entry."""
    with Blocks(folder, stored, name) as blocks:
        made = bytearray(stored.nbytes)
        blocks.fill(memoryview(made), 0)
    return bytes(made)


def read_box(
    folder: Folder,
    stored: Stored,
    name: str,
    shape: Sequence[int],
    at: Sequence[int],
    target: Tensor,
) -> None:
    """Fill `target` with the box at `at` of an entry of this shape: only blocks it touches are read."""
    if not target.numel():
        return
    with Blocks(folder, stored, name) as blocks:
        _read(blocks, list(shape), list(at), target, 0)


def _read(blocks: Blocks, shape: list[int], at: list[int], target: Tensor, start: int) -> None:
    """The box of the part of the entry that begins at element `start`, dimension by dimension."""
    inner = math.prod(shape[1:])
    if not shape or _in_one_run(shape[1:], target.shape[1:]):
        _read_run(blocks, target, start + (at[0] * inner if shape else 0))
        return
    if inner * target.dtype.itemsize <= BLOCK // 4:
        _read_rows(blocks, shape, at, target, start)
        return
    for row in range(target.shape[0]):
        _read(blocks, shape[1:], at[1:], target[row], start + (at[0] + row) * inner)


def _read_rows(blocks: Blocks, shape: list[int], at: list[int], target: Tensor, start: int) -> None:
    """A box of parts of rows that are short beside a block: whole rows are read, which are in these
    blocks anyway, and the parts copied out of them together.
    """
    inner = math.prod(shape[1:])
    parts = tuple(slice(a, a + size) for a, size in zip(at[1:], target.shape[1:], strict=True))
    first = at[0]
    for part in target.split(max(1, _AT_ONCE // (inner * target.dtype.itemsize))):
        room = taeda.empty((part.shape[0], *shape[1:]), dtype=target.dtype)
        blocks.fill(
            memoryview(room.view(-1).view(taeda.uint8)),
            (start + first * inner) * target.dtype.itemsize,
        )
        part.copy_(room[(slice(None), *parts)])
        first += part.shape[0]


def _in_one_run(shape: Sequence[int], sizes: Sequence[int]) -> bool:
    """Do rows of these sizes follow each other in an entry with rows of this shape?"""
    return list(shape) == list(sizes)


def _read_run(blocks: Blocks, target: Tensor, start: int) -> None:
    """Elements that follow each other in the file."""
    item = target.dtype.itemsize
    if target.is_contiguous() and target.device.type == "cpu":
        flat = target.view(-1)
        blocks.fill(memoryview(flat.view(taeda.uint8)), start * item)
        return
    rows = max(1, _AT_ONCE // max(1, item * math.prod(target.shape[1:])))
    for part in target.split(rows) if target.ndim else [target]:
        room = taeda.empty(part.shape, dtype=part.dtype)
        blocks.fill(memoryview(room.view(-1).view(taeda.uint8)), start * item)
        part.copy_(room)
        start += part.numel()
