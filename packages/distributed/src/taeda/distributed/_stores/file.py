"""A store in a file that all processes can reach."""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TypeVar

from .._errors import DistStoreError
from .base import Store, as_amount, as_bytes, seconds_of
from .table import Table

__all__ = ["FileStore"]

_LENGTH = struct.Struct("!II")
_GONE = 0xFFFFFFFF  # the length of a value that was deleted
_Found = TypeVar("_Found")


class FileStore(Store):
    """A store in the file `file_name`, which grows by a record for each change, under an fcntl lock.

    The file must not be left over from another group. With a `world_size`, the last process that is done
    deletes it.

    Args:
        file_name: the path, which all processes see; no file left over from another group.
        world_size: how many processes use it, so that the last one deletes it; -1, the default,
            leaves it.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "store")
    >>> FileStore(path, 1).add("steps", 2)
    2
    """

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        self._path, self._world_size = os.fspath(file_name), world_size
        self._table, self._read_to = Table(), 0
        self._pid = os.getpid()
        folder = os.path.dirname(os.path.abspath(self._path))
        if not os.path.isdir(folder):
            raise DistStoreError(f"FileStore: there is no folder {folder!r}")
        if world_size > 0:
            self.add("taeda/users", 1)

    @property
    def path(self) -> str:
        """The name of the file."""
        return self._path

    def set(self, key: str, value: str | bytes) -> None:
        self._change(key, lambda table, k: (as_bytes(value), None))

    def add(self, key: str, amount: int) -> int:
        added = as_amount(amount)

        def change(table: Table, k: bytes) -> tuple[bytes, int]:
            total = table.add(k, added)
            return str(total).encode(), total

        return self._change(key, change)

    def compare_set(
        self, key: str, expected_value: str | bytes, desired_value: str | bytes
    ) -> bytes:
        def change(table: Table, k: bytes) -> tuple[bytes | None, bytes]:
            value = table.compare_set(k, as_bytes(expected_value), as_bytes(desired_value))
            return table.values.get(k), value

        return self._change(key, change)

    def append(self, key: str, value: str | bytes) -> None:
        self._change(key, lambda table, k: (table.values.get(k, b"") + as_bytes(value), None))

    def delete_key(self, key: str) -> bool:
        return self._change(key, lambda table, k: (None, k in table.values))

    def get(self, key: str) -> bytes:
        self.wait([key])
        return self._table.values[as_bytes(key, "key")]

    def check(self, keys: Sequence[str]) -> bool:
        self._change("", lambda table, k: (None, None))
        return all(as_bytes(key, "key") in self._table.values for key in keys)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        seconds = self._timeout if timeout is None else seconds_of(timeout)
        until, pause = time.monotonic() + seconds, 0.001
        while not self.check(keys):
            if time.monotonic() > until:
                raise self._missing(keys, seconds)
            time.sleep(pause)
            pause = min(2 * pause, 0.05)

    def num_keys(self) -> int:
        self.check([])
        return len(self._table)

    def _change(
        self, key: str, change: Callable[[Table, bytes], tuple[bytes | None, _Found]]
    ) -> _Found:
        """Under the lock: read what others wrote, let `change` say the new value, append it as a record."""
        name = as_bytes(key, "key")
        try:
            # half-written: a log under a lock; what is cut off is cut away by the next writer
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise DistStoreError(
                f"FileStore cannot open {self._path!r}: {error.strerror}"
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self._catch_up(descriptor)
            before = self._table.values.get(name)
            value, found = change(self._table, name)
            if name and value != before:
                self._record(descriptor, name, value)
        finally:
            os.close(descriptor)
        return found

    def _record(self, descriptor: int, key: bytes, value: bytes | None) -> None:
        size = _GONE if value is None else len(value)
        record = _LENGTH.pack(len(key), size) + key + (value or b"")
        os.ftruncate(descriptor, self._read_to)  # a record that its writer's death cut off goes
        os.pwrite(descriptor, record, self._read_to)
        self._read_to += len(record)
        self._enter(key, value)

    def _catch_up(self, descriptor: int) -> None:
        size = os.fstat(descriptor).st_size
        if size < self._read_to:
            raise DistStoreError(f"{self._path!r} became shorter: another group uses the same file")
        data = os.pread(descriptor, size - self._read_to, self._read_to)
        at = 0
        while at + _LENGTH.size <= len(data):
            key_size, value_size = _LENGTH.unpack_from(data, at)
            value_at = at + _LENGTH.size + key_size
            end = value_at + (0 if value_size == _GONE else value_size)
            if end > len(data):
                break
            key = data[at + _LENGTH.size : value_at]
            self._enter(key, None if value_size == _GONE else data[value_at:end])
            at = end
        self._read_to += at

    def _enter(self, key: bytes, value: bytes | None) -> None:
        if value is None:
            self._table.values.pop(key, None)
        else:
            self._table.values[key] = value

    def close(self) -> None:
        """Be done with the store; the last of `world_size` processes deletes the file."""
        if self._world_size > 0 and self._pid == os.getpid() and os.path.exists(self._path):
            self._world_size, wanted = -1, self._world_size
            if self.add("taeda/done", 1) >= wanted:
                os.unlink(self._path)
