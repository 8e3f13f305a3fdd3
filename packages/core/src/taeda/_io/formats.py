"""Which kind of file this is, told by its first bytes: one row for each kind, with its reader or
with what to do.

A reader is `module:function` below `taeda._io`, imported when first needed. It is called with
(f, map_location, mmap), where `f` is a path or a binary file that can seek, at its beginning.
Rows are tried from the top.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .safetensors import HEADER_LIMIT, LENGTH_BYTES, FormatError
from .wrong import WRONG, is_big_endian

__all__ = ["FORMATS", "PEEK", "Format", "identify"]

PEEK = 1024  # bytes that are enough to tell


@dataclass(frozen=True)
class Format:
    """A kind of file that `load` reads."""

    name: str
    recognises: Callable[[bytes], bool]
    reader: str
    options: frozenset[str] = frozenset()  # what the reader takes beyond map_location and mmap
    # `module:function` that lists the names of code in a file; "" where there can be none
    namer: str = ""

    def read(self, f: Any, map_location: Any, mmap: bool, **options: Any) -> Any:
        """The object in the file. TypeError for an option that has no meaning for this kind."""
        if strange := options.keys() - self.options:
            raise TypeError(f"{', '.join(sorted(strange))} has no meaning for {self.name}")
        return _function(self.reader)(f, map_location, mmap, **options)

    def unsafe_names(self, f: Any) -> list[str]:
        """The names of classes and functions in the file that are not allowed."""
        return _function(self.namer)(f) if self.namer else []


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(f"taeda._io.{module}"), function)


def _is_native(first: bytes) -> bool:
    length, rest = first[:LENGTH_BYTES], first[LENGTH_BYTES:]
    if rest.startswith(b"{") and int.from_bytes(length, "little") <= HEADER_LIMIT:
        return True
    # Damaged in its first bytes; the reader says so. The other byte order is no damage.
    return rest[1:].startswith(b'"__metadata__":{') and not is_big_endian(first)


def _begins(mark: bytes) -> Callable[[bytes], bool]:
    return lambda first: first.startswith(mark)


def _is_pickle(first: bytes) -> bool:
    return first[:1] == b"\x80" and first[1:2] in (b"\2", b"\3", b"\4", b"\5")


def _is_torch_tar(first: bytes) -> bool:
    name = first[:100].partition(b"\0")[0]
    return first[257:262] == b"ustar" and name in (b"sys_info", b"pickle", b"tensors", b"storages")


FORMATS = [
    Format(
        "a safetensors file",
        _is_native,
        "native:read_native",
        frozenset({"verify", "progress"}),
        namer="native:native_names",
    ),
    Format(
        "a zip that torch or numpy wrote",
        _begins(b"PK\x03\x04"),
        "archive:read_zip",
        frozenset({"verify", "progress"}),
        namer="archive:unsafe_names",
    ),
    Format("a file of torch before 1.6", _is_pickle, "pt.read:read_legacy"),
    Format("a tar of torch before 0.2", _is_torch_tar, "pt.read:read_old_tar"),
    Format("a .npy file", _begins(b"\x93NUMPY"), "npy:read_npy"),
    Format("a GGUF file", _begins(b"GGUF"), "gguf:read_gguf"),
    # One row for each further format that is read: Format(name, recognises, "module:function").
]


def identify(first: bytes) -> Format:
    """The kind of a file that begins with these bytes (`PEEK` of them, or all).

    EOFError if there are none; FormatError, with what the file is and what to do, if nothing reads it.
    """
    if not first:
        raise EOFError("the file is empty (0 bytes): it was never written, or its writing failed")
    for format in FORMATS:
        if format.recognises(first):
            return format
    for wrong in WRONG:
        if wrong.recognises(first):
            raise FormatError(f"this is {wrong.name}, no checkpoint: {wrong.advice}")
    raise FormatError(_unknown(first))


def _unknown(first: bytes) -> str:
    if len(first) < LENGTH_BYTES + 2:
        return f"the file is cut short: it has {len(first)} bytes, and no checkpoint is that small"
    return (
        f"this is no kind of file that is known here: it begins with {first[:16]!r}. Wanted is one of: "
        f"{', '.join(format.name for format in FORMATS)}; if it is one of them, it is damaged"
    )
