"""Writing a checkpoint."""

from __future__ import annotations

import json
from typing import Any

from taeda._native import core as _core

from .. import settings
from ..atomic import AtomicFile
from ..place import tag_of
from ..progress import Advance
from ..safetensors import Entry, Header
from ..storages import Collector, Piece
from ..tree import encode
from .layout import KEYS, UNKNOWN, VERSION, checksum, template, with_sums

__all__ = ["Content", "write_native"]

_CHUNK = 1 << 20  # bytes: small enough to be in the cache still when they are written
_SMALL = 1 << 16  # bytes: pieces below are gathered before they are written


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
            KEYS.TREE: _dump(tree),
            KEYS.TENSORS: f"[{','.join(row.described() for row in collector.rows)}]",
        }
        if elsewhere := {p.name: tag for p in pieces if (tag := tag_of(p.rows[0].tensor)) != "cpu"}:
            metadata[KEYS.LOCATIONS] = _dump(elsewhere)
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


def _dump(value: Any) -> str:
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise ValueError("cannot save the object: nested too deeply") from None


def write_native(file: Any, content: Content, advance: Advance) -> None:
    """Write to an object with `write`; to one of ours in a single pass, its header last."""
    if settings.skips_data.get():
        write_all(file, with_sums(content.template, [UNKNOWN] * len(content.pieces)))
        _write_empty(file, content.data_bytes)
    elif not settings.save.compute_crc32:
        write_all(file, with_sums(content.template, [UNKNOWN] * len(content.pieces)))
        _write_pieces(file, content.pieces, advance)
    elif isinstance(file, AtomicFile):
        write_all(file, content.template)
        sums = _write_pieces(file, content.pieces, advance)
        file.seek(0)
        write_all(file, with_sums(content.template, sums))
    else:
        sums = [checksum(piece.data()) for piece in content.pieces]
        write_all(file, with_sums(content.template, sums))
        _write_pieces(file, content.pieces, advance)


def _write_pieces(file: Any, pieces: list[Piece], advance: Advance) -> list[str]:
    """Write the bytes of the pieces; their checksums."""
    sums, gathered = [], bytearray()
    for piece in pieces:
        data = piece.data()
        if data.nbytes < _SMALL:
            gathered += data
            sums.append(checksum(memoryview(gathered)[-data.nbytes :]))
        if gathered and (data.nbytes >= _SMALL or len(gathered) >= _CHUNK):
            write_all(file, gathered)
            advance(len(gathered))
            gathered = bytearray()
        if data.nbytes >= _SMALL:
            sums.append(_write_large(file, data, advance))
    write_all(file, gathered)
    advance(len(gathered))
    return sums


def _write_large(file: Any, data: memoryview, advance: Advance) -> str:
    """Write chunk by chunk, so that a chunk is in the cache for its checksum and for being written.

    A copy is written: should another thread change the tensor now, the checksum still is that of the file.
    """
    sum, scratch = 0, memoryview(bytearray(min(data.nbytes, _CHUNK)))
    for begin in range(0, data.nbytes, _CHUNK):
        chunk = scratch[: min(_CHUNK, data.nbytes - begin)]
        chunk[:] = data[begin : begin + chunk.nbytes]
        sum = _core.crc32c(chunk, sum)
        write_all(file, chunk)
        advance(chunk.nbytes)
    return f"{sum:08x}"


def _write_empty(file: Any, count: int) -> None:
    """Room for bytes that somebody else will write: a hole in a file of ours, else zeros."""
    if isinstance(file, AtomicFile):
        file.truncate(file.tell() + count)
        return
    for begin in range(0, count, _CHUNK):
        write_all(file, bytes(min(_CHUNK, count - begin)))


def write_all(file: Any, data: Any) -> None:
    """Write all of `data`, however little `write` takes at a time."""
    rest = memoryview(data)
    while rest.nbytes:
        written = file.write(rest)
        if written is None:  # what an object with `write` need not say
            return
        rest = rest[written:]
