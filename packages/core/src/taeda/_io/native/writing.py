"""Writing a checkpoint."""

from __future__ import annotations

from typing import Any

from taeda._native import core as _core

from .. import settings
from ..atomic import AtomicFile
from ..place import tag_of
from ..progress import Advance
from ..safetensors import Entry, Header
from ..storages import Collector, Piece
from ..tree import dump, encode
from ..whole import write_all
from .layout import KEYS, UNKNOWN, VERSION, checksum, template, with_sums

__all__ = ["Content", "write_native"]

_CHUNK = 1 << 18  # bytes: small enough to be in the cache still when they are written


class Content:
    """What a file for `obj` will hold. TypeError, with the place, for what cannot be saved."""

    def __init__(self, obj: Any) -> None:
        collector = Collector()
        tree = encode(obj, collector.keep)
        pieces = collector.pieces()
        self.pieces = [piece for piece in pieces if piece.nbytes]
        metadata = {
            "format": "taeda",
            KEYS.VERSION: VERSION,
            KEYS.TREE: dump(tree),
            KEYS.TENSORS: f"[{','.join(row.described() for row in collector.rows)}]",
        }
        if elsewhere := {p.name: tag for p in pieces if (tag := tag_of(p.rows[0].tensor)) != "cpu"}:
            metadata[KEYS.LOCATIONS] = dump(elsewhere)
        self.template = template(Header(_entries(pieces), metadata), len(self.pieces))
        self.data_bytes = sum(piece.nbytes for piece in pieces)
        self.size = len(self.template) + self.data_bytes


def _entries(pieces: list[Piece]) -> dict[str, Entry]:
    made, position = {}, 0
    for piece in pieces:
        code, shape = piece.shape()
        made[piece.name] = Entry(code, shape, position, position + piece.nbytes)
        position += piece.nbytes
    return made


def write_native(file: Any, content: Content, advance: Advance) -> None:
    """Write to an object with `write`; to one of ours in a single pass, its header last."""
    room = len(content.template)
    if settings.skips_data.get():
        write_all(file, with_sums(content.template, [UNKNOWN] * len(content.pieces)))
        _write_empty(file, content.data_bytes)
    elif content.size <= _CHUNK:
        write_all(file, _in_memory(content))
        advance(content.data_bytes)
    elif isinstance(file, AtomicFile):
        file.seek(room)
        sums = _write_pieces(file, content.pieces, advance)
        file.seek(0)
        write_all(file, with_sums(content.template, sums))
    else:
        sums = [_sum_of(piece.data()) for piece in content.pieces]
        write_all(file, with_sums(content.template, sums))
        _write_pieces(file, content.pieces, advance)


def _sum_of(data: memoryview) -> str:
    return checksum(data) if settings.save.compute_crc32 else UNKNOWN


def _in_memory(content: Content) -> bytearray:
    """A small file, from copies, as a large one is written."""
    made = bytearray(content.size)
    sums, at = [], len(content.template)
    with memoryview(made) as view:
        for piece in content.pieces:
            part = view[at : at + piece.nbytes]
            part[:] = piece.data()
            sums.append(_sum_of(part))
            at += piece.nbytes
        view[: len(content.template)] = with_sums(content.template, sums)
    return made


def _write_pieces(file: Any, pieces: list[Piece], advance: Advance) -> list[str]:
    """Write the bytes of the pieces; their checksums."""
    chunks = _Chunks(file, advance)
    sums = [chunks.add(piece.data()) for piece in pieces]
    chunks.flush()
    return sums


class _Chunks:
    """Bytes on their way to a file, gathered to chunks that are in the cache when they are written.

    Copies are written: should another thread change a tensor now, its checksum still is that of the file.
    """

    def __init__(self, file: Any, advance: Advance) -> None:
        self.file, self.advance = file, advance
        self.chunk, self.used = memoryview(bytearray(_CHUNK)), 0

    def add(self, data: memoryview) -> str:
        """Take all of `data`; their checksum."""
        sum, summed = 0, settings.save.compute_crc32
        while data.nbytes:
            room = self.chunk[self.used : self.used + data.nbytes]
            room[:] = data[: room.nbytes]
            sum = _core.crc32c(room, sum) if summed else 0
            data = data[room.nbytes :]
            self.used += room.nbytes
            if self.used == _CHUNK:
                self.flush()
        return f"{sum:08x}" if summed else UNKNOWN

    def flush(self) -> None:
        write_all(self.file, self.chunk[: self.used])
        self.advance(self.used)
        self.used = 0


def _write_empty(file: Any, count: int) -> None:
    """Room for bytes that somebody else will write: a hole in a file of ours, else zeros."""
    if isinstance(file, AtomicFile):
        file.truncate(file.tell() + count)
        return
    for begin in range(0, count, _CHUNK):
        write_all(file, bytes(min(_CHUNK, count - begin)))
