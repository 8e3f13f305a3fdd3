"""The readers of torch's older files, as the table of formats names them."""

from __future__ import annotations

import os
from typing import Any

from ..opened import opened
from ..place import Place
from ..safetensors import FormatError
from .legacy import read_stream
from .tarform import read_tar

__all__ = ["read_legacy", "read_old_tar"]


def read_legacy(f: Any, map_location: Any, mmap: bool) -> Any:
    """The object in a file as torch wrote it before 1.6: pickles, then the storages."""
    _no_map(mmap, "1.6")
    with opened(f, mmap=False) as source:
        made, end = read_stream(source, Place(map_location))
        if end != source.size and isinstance(f, (str, os.PathLike)):
            raise FormatError(f"{source.size - end} bytes follow the last storage of the file")
        source.file.seek(source.start + end)  # another object may follow in an open file
        return made


def read_old_tar(f: Any, map_location: Any, mmap: bool) -> Any:
    """The object in a tar as torch wrote it before 0.2."""
    _no_map(mmap, "0.2")
    with opened(f, mmap=False) as source:
        return read_tar(source, Place(map_location))


def _no_map(mmap: bool, version: str) -> None:
    if mmap:
        raise RuntimeError(
            f"mmap=True is for the zips that torch writes since 1.6, and this file has the form of "
            f"before {version}: load it without, and save it again"
        )
