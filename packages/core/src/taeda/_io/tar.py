"""Tar archives, read strictly: plain files with plain names, each once.

header (512 bytes: name, size in octal, checksum, kind) | content, padded to 512 | … | two empty blocks
"""

from __future__ import annotations

import re

from .safetensors import FormatError
from .source import Source

__all__ = ["read_members"]

_BLOCK = 512
_MEMBERS = 1000
_DIRECTORY, _EXTENDED = b"5", (b"x", b"g")  # extended headers hold times and owners: skipped
_FILE = (b"0", b"\0")


def read_members(source: Source) -> dict[str, tuple[int, int]]:
    """Where each file in the archive begins, and its size."""
    members: dict[str, tuple[int, int]] = {}
    at = 0
    for _ in range(_MEMBERS):
        header = source.read(at, _BLOCK)
        if not any(header):
            return members
        name, size, kind = _header(header, at)
        begin = at + _BLOCK
        at = begin + -(-size // _BLOCK) * _BLOCK
        if at > source.size:
            raise FormatError(f"the tar archive is truncated inside its file {name!r}")
        if kind == _DIRECTORY or kind in _EXTENDED:
            continue
        if kind not in _FILE:
            raise FormatError(f"the tar archive's {name!r} is a link or a device, no file")
        name = name.removeprefix("./")
        if name in members:
            raise FormatError(f"the tar archive has two files named {name!r}")
        members[name] = begin, size
    raise FormatError(f"the tar archive has more than {_MEMBERS} files")


def _header(header: bytes, at: int) -> tuple[str, int, bytes]:
    if _octal(header[148:156]) != _sum(header):
        raise FormatError(f"the tar archive is damaged at byte {at}: a header's checksum differs")
    size = _octal(header[124:136])
    name = header[:100].partition(b"\0")[0].decode("ascii", "replace")
    if size is None or not re.fullmatch(r"(\./)?[\w.@-]+/?", name):
        raise FormatError(f"the tar archive has a member named {name!r}, or with a size unknown")
    return name, size, header[156:157]


def _sum(header: bytes) -> int:
    """The sum of a header's bytes, with spaces where the sum itself stands."""
    return sum(header[:148]) + 8 * ord(" ") + sum(header[156:])


def _octal(field: bytes) -> int | None:
    text = field.strip(b" \0")
    return int(text, 8) if re.fullmatch(rb"[0-7]+", text) else None
