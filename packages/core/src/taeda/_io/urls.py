"""Files that fsspec reaches: "s3://bucket/key", "https://...", "memory://..."."""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Iterator
from typing import IO, Any, TypeGuard

__all__ = ["file_system", "is_url", "opened_url", "without_file_protocol", "written_url"]

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+(::|://)")


def is_url(f: Any) -> TypeGuard[str]:
    """Whether this text names a file by its protocol. A path with `://` in it can be given as a Path."""
    return isinstance(f, str) and _URL.match(f) is not None


def without_file_protocol(f: Any) -> Any:
    """The path in "file:///path", so that it is written as every path is; other things as they are."""
    return f.removeprefix("file://") if isinstance(f, str) else f


def file_system(url: str) -> tuple[Any, str]:
    """The file system of fsspec that a URL names, and the path in it."""
    try:
        fsspec: Any = importlib.import_module("fsspec")
    except ImportError:
        raise ModuleNotFoundError(
            f"{url!r} is a URL, and fsspec, which opens those, is not installed: pip install fsspec "
            "(or give an open file)"
        ) from None
    system, path = fsspec.core.url_to_fs(url)
    return system, path


@contextlib.contextmanager
def opened_url(url: str) -> Iterator[IO[bytes]]:
    """The file at a URL, for reading."""
    system, path = file_system(url)
    with system.open(path, "rb") as file:
        yield file


@contextlib.contextmanager
def written_url(url: str) -> Iterator[IO[bytes]]:
    """A file that is put at the URL when the block ends without an exception, and dropped otherwise."""
    system, path = file_system(url)
    with system.transaction, system.open(path, "wb") as file:  # half-written: until the former ends
        yield file
