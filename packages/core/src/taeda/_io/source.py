"""The bytes of a file of known size: read where they are wanted, never beyond the end.

Two kinds with the same methods: one reads from a file, the other maps it.
"""

from __future__ import annotations

import mmap as _mmap
import os
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

from . import settings
from .safetensors import FormatError

__all__ = ["FileSource", "MappedSource", "Source"]

_CHUNK = 1 << 20  # small enough to be in a cache still when its checksum is taken
Crc = Callable[[memoryview, int], int]


class FileSource:
    """Reads from an object with `seek` and `read` (and `readinto` if it has it), from `start` on."""

    mapped = False

    def __init__(self, file: Any, start: int, size: int) -> None:
        self.file, self.start, self.size = file, start, size
        self.name = str(getattr(file, "name", "a file"))

    def read(self, begin: int, count: int) -> bytes:
        """`count` bytes from `begin`. FormatError if the file has not that many."""
        _check(self, begin, count)
        self.file.seek(self.start + begin)
        parts, missing = [], count
        while missing:
            part = self.file.read(missing)
            if not part:
                raise FormatError(f"the file ended {missing} bytes early")
            parts.append(part)
            missing -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def tensor(
        self, begin: int, count: int, crc: Crc | None = _core.crc32, align: int = 16
    ) -> tuple[Tensor, int]:
        """Those bytes as a uint8 tensor with a storage of its own, and their CRC-32 (or another sum)."""
        _check(self, begin, count)
        made = taeda.empty(count, dtype=taeda.uint8)
        return made, self.fill(begin, made, crc)

    def fill(self, begin: int, target: Tensor, crc: Crc | None = _core.crc32) -> int:
        """Put the bytes from `begin` into a contiguous uint8 tensor.
        Returns their CRC-32 (or another sum).
        """
        _check(self, begin, target.numel())
        here = target.storage_offset()
        rest = memoryview(_core.storage_bytes(target))[here : here + target.numel()]
        self.file.seek(self.start + begin)
        sum = 0
        while rest.nbytes:
            done = self._read_into(rest[:_CHUNK])
            sum = crc(rest[:done], sum) if crc else 0
            rest = rest[done:]
        return sum

    def _read_into(self, view: memoryview) -> int:
        if hasattr(self.file, "readinto"):
            done = self.file.readinto(view)
        else:
            part = self.file.read(view.nbytes)
            done = len(part)
            view[:done] = part
        if not done:
            raise FormatError(f"the file ended {view.nbytes} bytes early")
        return int(done)


class MappedSource:
    """A map of a file: what is never used is never read.
    Writing to it changes no file, unless it is shared.
    """

    mapped = True

    def __init__(self, file: Any) -> None:
        self.size, self.name = os.fstat(file.fileno()).st_size, str(file.name)
        shared = settings.load.mmap_flags == _mmap.MAP_SHARED
        access = _mmap.ACCESS_WRITE if shared else _mmap.ACCESS_COPY
        self.whole = memoryview(_mmap.mmap(file.fileno(), 0, access=access))

    def read(self, begin: int, count: int) -> bytes:
        """`count` bytes from `begin`. FormatError if the file has not that many."""
        _check(self, begin, count)
        return bytes(self.whole[begin : begin + count])

    def tensor(
        self, begin: int, count: int, crc: Crc | None = None, align: int = 16
    ) -> tuple[Tensor, int | None]:
        """Those bytes as a uint8 tensor on the map (a copy if they do not begin at a multiple of `align`).

        No checksum is taken unless a way to compute it is given.
        """
        _check(self, begin, count)
        if not count:
            return taeda.empty(0, dtype=taeda.uint8), crc and 0
        part = self.whole[begin : begin + count]
        made = _core.from_buffer(part, taeda.uint8)
        return made if begin % align == 0 else made.clone(), crc and crc(part, 0)


Source = FileSource | MappedSource


def _check(source: Source, begin: int, count: int) -> None:
    if begin < 0 or count < 0 or begin + count > source.size:
        raise FormatError(
            f"the file is truncated: bytes {begin} to {begin + count} are wanted, and it has "
            f"{source.size}"
        )
