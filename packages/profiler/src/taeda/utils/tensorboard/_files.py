"""Where records and tables go: a folder of this machine, or an address that fsspec opens."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from typing import IO, Any

from taeda._core_api import warn
from taeda._core_api.files import (
    atomic_write,
    file_system,
    is_url,
    without_file_protocol,
    written_url,
)

__all__ = ["LocalFile", "Records", "UploadedFile", "add_to", "new_file", "put"]


def new_file(folder: str, name: str, every: float) -> Records:
    """A file that did not exist, in `folder`, which is made. An address gets it every `every` seconds."""
    folder = without_file_protocol(folder)
    return UploadedFile(folder, name, every) if is_url(folder) else LocalFile(folder, name)


class Records:
    """A file on this machine that grows by whole records."""

    failing = "events are lost"  # what a warning says of records that cannot be written

    def __init__(self, path: str, raw: IO[bytes] | Any) -> None:
        self.path, self.raw, self.size = path, raw, 0

    def write_all(self, data: memoryview) -> None:
        """All bytes, or OSError and none of them: a reader stops at a record that is cut off."""
        try:
            done = 0
            while done < len(data):
                done += self.raw.write(data[done:]) or 0
        except OSError:
            if self.raw.seekable():
                self.raw.truncate(self.size)
                self.raw.seek(self.size)
            raise
        self.size += len(data)

    def flush(self) -> None:
        """Return when readers see what was written: here they do at once."""

    def close(self) -> None:
        """End the file."""
        self.raw.close()


class LocalFile(Records):
    """A file that readers follow while it grows."""

    def __init__(self, folder: str, name: str) -> None:
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, name)
        # half-written: readers follow the file while it grows, record by record
        super().__init__(path, open(path, "xb", buffering=0))  # noqa: SIM115 - lives as long as this


class UploadedFile(Records):
    """A file at an address. Stores take whole files only, so it grows on this machine and replaces the
    one at its address at a flush, and with the first records after `every` seconds.

    A store that cannot be reached is OSError, whatever fsspec raises; the records stay here, and the
    next upload has them.
    """

    failing = "events wait for the next try"

    def __init__(self, folder: str, name: str, every: float) -> None:
        path = f"{folder.rstrip('/')}/{name}"
        self._system, self._there = file_system(path)
        self._every, self._last, self._sent = every, time.monotonic(), 0
        raw = tempfile.NamedTemporaryFile(prefix="taeda-events-", buffering=0, delete=False)  # noqa: SIM115 - lives as long as this
        super().__init__(path, raw)

    def write_all(self, data: memoryview) -> None:
        """All bytes, or OSError; the upload once in a while."""
        super().write_all(data)
        if time.monotonic() - self._last >= self._every:
            self.flush()

    def close(self) -> None:
        """End the file. What the store did not take stays on this machine, and a warning says where."""
        super().close()
        if self._sent == self.size:
            os.unlink(self.raw.name)
        else:
            warn(f"SummaryWriter: {self.path} lacks events; all of them are in {self.raw.name}")

    def flush(self) -> None:
        """Return when the file at the address has all."""
        if self._sent == self.size:
            return
        self._last = time.monotonic()  # also of a try that fails: not once for each record
        try:
            with contextlib.suppress(NotImplementedError):  # stores without folders
                self._system.makedirs(os.path.dirname(self._there), exist_ok=True)
            self._system.put_file(self.raw.name, self._there)
        except (OSError, MemoryError):
            raise
        except Exception as error:  # each store has its own
            raise OSError(f"{type(error).__name__}: {error}") from error
        self._sent = self.size


def put(folder: str, name: str, data: bytes) -> None:
    """A whole file in `folder`, replaced if it is there."""
    folder = without_file_protocol(folder)
    path = os.path.join(folder, name)
    if not is_url(folder):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with written_url(path) if is_url(folder) else atomic_write(path) as file:
        file.write(data)


def add_to(folder: str, name: str, data: bytes) -> None:
    """`put` with what the file has and then `data`."""
    folder = without_file_protocol(folder)
    before = b""
    if is_url(folder):
        system, path = file_system(os.path.join(folder, name))
        before = system.cat_file(path) if system.exists(path) else b""
    elif os.path.exists(path := os.path.join(folder, name)):
        with open(path, "rb") as file:
            before = file.read()
    put(folder, name, before + data)
