"""Zip archives: whose they are is told by the names in them."""

from __future__ import annotations

from typing import Any

from .npy import is_npz, read_npz
from .opened import opened
from .place import Place
from .progress import Wish
from .pt.zipform import is_torch, names_in_archive, read_archive
from .safetensors import FormatError
from .zipfile import read_directory

__all__ = ["read_zip", "unsafe_names"]


def read_zip(
    f: Any,
    map_location: Any,
    mmap: bool,
    *,
    verify: bool | None = None,
    progress: Wish = False,
) -> Any:
    """The object in a zip that torch wrote, or the arrays in numpy's.

    `verify` says whether checksums are compared; None: unless the file is mapped.
    """
    verify = not mmap if verify is None else verify
    with opened(f, mmap) as source:
        records, place = read_directory(source), Place(map_location)
        if is_torch(records):
            return read_archive(source, place, records, verify, progress)
        if is_npz(records):
            return read_npz(source, place, records)
    shown = ", ".join(repr(name) for name in list(records)[:5])
    raise FormatError(
        f"this is a zip archive with {shown:.300}: neither torch nor numpy wrote it. If it was packed, "
        "unpack it and load the file inside"
    )


def unsafe_names(f: Any) -> list[str]:
    """The names in the object of a zip that torch wrote, that reading it would refuse."""
    with opened(f, mmap=False) as source:
        records = read_directory(source)
        return names_in_archive(source, records) if is_torch(records) else []
