"""Where a checkpoint lies: a folder of this machine, or one that fsspec reaches, with the same methods."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from taeda._core_api.files import atomic_write, file_system, is_url, written_url

from .storage import Place

__all__ = ["Folder", "RemotePath", "folder_of", "parts_of", "place_of", "written"]


class RemotePath:
    """A path in a file system of fsspec, such as `memory://run/7`, with the methods of Path that checkpoints
    use. Directories are names with a slash there, so nothing is to be made.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.system, self.path = file_system(self.url)

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(f"{self.url}/{name}")

    def __str__(self) -> str:
        return self.url

    __fspath__ = __str__

    @property
    def name(self) -> str:
        """Its last part."""
        return self.url.rpartition("/")[2]

    def exists(self) -> bool:
        """Is there a file or folder of this name, now?"""
        self.system.invalidate_cache()
        return bool(self.system.exists(self.path))

    is_dir = exists  # a folder is there when a file in it is

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        """Make the folder, where the file system has folders."""
        self.system.makedirs(self.path, exist_ok=exist_ok)

    def iterdir(self) -> Iterator[RemotePath]:
        """The files in it, as they are now."""
        self.system.invalidate_cache()
        if not self.system.exists(self.path):
            return
        for name in self.system.ls(self.path, detail=False):
            yield self / name.rstrip("/").rpartition("/")[2]

    def unlink(self) -> None:
        """Remove the file."""
        self.system.rm_file(self.path)

    def read_bytes(self) -> bytes:
        """The whole file. FileNotFoundError if there is none."""
        self.system.invalidate_cache()
        return bytes(self.system.cat_file(self.path))


Folder = Path | RemotePath


def place_of(place: Place) -> Folder:
    """A folder of this machine, or the one at an address."""
    text = _text(place)
    if text.startswith("file://"):
        return Path(text.removeprefix("file://"))
    return RemotePath(text) if is_url(text) else Path(text)


def folder_of(place: Place) -> Path:
    """A folder of this machine. ValueError for another address."""
    found = place_of(place)
    if isinstance(found, RemotePath):
        raise ValueError(f"{found.url!r:.80} is an address: files of this form need a folder")
    return found


def _text(place: Place) -> str:
    if isinstance(place, RemotePath):
        return place.url
    text = os.fspath(place)
    if not isinstance(text, str):
        raise TypeError(f"a checkpoint's place is a str or a path, not {type(text).__name__}")
    return text


@contextlib.contextmanager
def written(path: Folder, size: int, sync: Any) -> Iterator[Any]:
    """A file that is there whole when the block ends, and not at all after an exception."""
    if isinstance(path, RemotePath):
        with written_url(path.url) as file:
            yield file
    else:
        with atomic_write(path, size, sync=sync) as file:
            yield file


Read = Callable[[int, int], bytes]


@contextlib.contextmanager
def parts_of(path: Folder) -> Iterator[tuple[int, Read]]:
    """The size of a file, and what reads so many bytes from a place on. FileNotFoundError without one."""
    if isinstance(path, RemotePath):
        system, name = path.system, path.path
        yield int(system.size(name)), lambda n, at: bytes(system.cat_file(name, at, at + n))
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield os.fstat(descriptor).st_size, lambda n, at: os.pread(descriptor, n, at)
    finally:
        os.close(descriptor)
