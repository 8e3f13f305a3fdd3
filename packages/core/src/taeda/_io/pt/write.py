"""Writes the zip that `torch.load` reads, laid out as torch lays it out: every record at a multiple of 64.

Headers come before the sizes and checksums of their records are known, so those follow the data: all is
written in one go, and each byte is read once.
"""

from __future__ import annotations

import struct
import sys
from typing import Any

from taeda._native import core as _core

from .. import settings
from ..progress import Advance
from ..whole import write_all
from ..zipfile import MOST_RECORDS
from .emit import Emitter

__all__ = ["Content", "write_pt"]

_ALIGNMENT = 64
_CHUNK = 1 << 20  # small enough to be in a cache still when it is written after its checksum
_SMALL = 1 << 16
_MOST32, _MOST16 = 0xFFFFFFFF, 0xFFFF
_DESCRIPTOR, _UTF8 = 0x0008, 0x0800
_FOLDER = "archive/"
_OVERHEAD = 300  # bytes that a record takes besides its own, at most


class Content:
    """What a file for `obj` will hold. TypeError, with the place, for what cannot be saved."""

    def __init__(self, obj: Any) -> None:
        made = Emitter(obj)
        self.pickle, self.storages = made.pickle, made.storages
        self.data_bytes = sum(storage.numel() for storage in self.storages)
        records = len(self.storages) + 6
        if records > MOST_RECORDS:
            raise ValueError(
                f"{len(self.storages)} storages are too many for a .pt file, of which "
                f"{MOST_RECORDS - 6} are read again: use format='safetensors'"
            )
        self.size = len(self.pickle) + self.data_bytes + _OVERHEAD * records


def write_pt(file: Any, content: Content, advance: Advance) -> None:
    """Write to an object with `write`."""
    archive = _Archive(file)
    archive.add("data.pkl", content.pickle)
    archive.add(".format_version", b"1")
    archive.add(".storage_alignment", str(_ALIGNMENT).encode())
    archive.add("byteorder", sys.byteorder.encode())
    for number, storage in enumerate(content.storages):
        archive.add(
            f"data/{number}", memoryview(storage.cpu()) if storage.numel() else b"", advance
        )
    archive.add("version", b"3\n")
    archive.end()


class _Archive:
    def __init__(self, file: Any) -> None:
        self.file, self.at = file, 0
        self.directory: list[bytes] = []
        self.gathered = bytearray()  # small pieces, to be written together

    def write(self, data: bytes | memoryview) -> None:
        count = len(data)
        self.at += count
        if count < _SMALL:
            self.gathered += data
            if len(self.gathered) >= _CHUNK:
                self.flush()
        else:
            self.flush()
            self.write_now(memoryview(data))

    def flush(self) -> None:
        gathered, self.gathered = self.gathered, bytearray()
        self.write_now(memoryview(gathered))

    def write_now(self, rest: memoryview) -> None:
        write_all(self.file, rest)

    def add(self, name: str, data: bytes | memoryview, advance: Advance | None = None) -> None:
        """A record: header, data, checksum and size."""
        view, text, begin = memoryview(data), (_FOLDER + name).encode(), self.at
        flags = _UTF8 | (_DESCRIPTOR if view.nbytes else 0)
        wide = _wide(view.nbytes, begin)
        extra = wide + _padding(begin + 30 + len(text) + len(wide))
        header = struct.pack(
            "<4s5H3I2H",
            b"PK\3\4",
            45 if wide else 0,
            flags,
            0,
            0,
            0,
            0,
            0,
            0,
            len(text),
            len(extra),
        )
        self.write(header + text + extra)
        sum = 0
        for chunk in range(0, view.nbytes, _CHUNK):
            part = view[chunk : chunk + _CHUNK]
            sum = _core.crc32(part, sum) if settings.save.compute_crc32 else 0
            self.write(part)
            if advance is not None:
                advance(part.nbytes)
        if view.nbytes:
            form = "<4sI2Q" if wide else "<4s3I"
            self.write(struct.pack(form, b"PK\7\10", sum, view.nbytes, view.nbytes))
        self.directory.append(_entry(text, flags, sum, view.nbytes, begin))

    def end(self) -> None:
        """The directory, and where it lies, in both forms."""
        begin, count = self.at, len(self.directory)
        self.write(b"".join(self.directory))
        size, at = self.at - begin, self.at
        facts = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 0, 45, 0, 0, count, count, size, begin)
        locator = struct.pack("<4sIQI", b"PK\6\7", 0, at, 1)
        few, small, near = min(count, _MOST16), min(size, _MOST32), min(begin, _MOST32)
        last = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, few, few, small, near, 0)
        self.write(facts + locator + last)
        self.flush()


def _wide(size: int, begin: int) -> bytes:
    """The field for numbers that do not fit 32 bits; empty if all do."""
    sizes = struct.pack("<2Q", size, size) if size >= _MOST32 else b""
    place = struct.pack("<Q", begin) if begin >= _MOST32 else b""
    body = sizes + place
    return struct.pack("<2H", 1, len(body)) + body if body else b""


def _padding(position: int) -> bytes:
    """A field after which data that would begin at `position` begin at a multiple of 64."""
    missing = -(position + 4) % _ALIGNMENT
    return b"FB" + struct.pack("<H", missing) + b"Z" * missing


def _entry(name: bytes, flags: int, sum: int, size: int, begin: int) -> bytes:
    """What the directory says of a record."""
    extra = _wide(size, begin)
    version = 45 if extra else 0
    told = (version, version, flags, 0, 0, 0, sum, min(size, _MOST32), min(size, _MOST32))
    places = (len(name), len(extra), 0, 0, 0, 0, min(begin, _MOST32))
    return struct.pack("<4s6H3I5H2I", b"PK\1\2", *told, *places) + name + extra
