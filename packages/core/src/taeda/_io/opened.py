"""From what `load` is given, a path or a file, to a source of bytes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from mmap import MAP_SHARED
from typing import Any, Literal, overload

from . import settings
from .source import FileSource, MappedSource, Source

__all__ = ["opened"]


@overload
def opened(f: Any, mmap: Literal[False]) -> AbstractContextManager[FileSource]: ...
@overload
def opened(f: Any, mmap: bool) -> AbstractContextManager[Source]: ...
def opened(f: Any, mmap: bool) -> AbstractContextManager[Source]:
    """The bytes of a path, mapped or not, or those from here on of an open file."""
    return _opened(f, mmap)


@contextlib.contextmanager
def _opened(f: Any, mmap: bool) -> Iterator[Source]:
    if not isinstance(f, (str, os.PathLike)):
        here = f.tell()
        size = f.seek(0, os.SEEK_END) - here
        yield FileSource(f, here, size)
        return
    shared = mmap and settings.load.mmap_flags == MAP_SHARED
    mode = "r+b" if shared else "rb"
    with open(f, mode, buffering=0) as file:  # half-written: only a shared map writes
        yield MappedSource(file) if mmap else FileSource(file, 0, os.fstat(file.fileno()).st_size)
