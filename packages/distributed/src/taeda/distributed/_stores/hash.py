"""A store for the threads of one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from datetime import timedelta

from .._errors import QueueEmptyError
from .base import Store, as_amount, as_bytes, seconds_of
from .table import Table

__all__ = ["HashStore"]


class HashStore(Store):
    """A store inside one process, for its threads.

    >>> store = HashStore()
    >>> store.set("greeting", "hello")
    >>> store.get("greeting")
    b'hello'
    """

    def __init__(self) -> None:
        super().__init__()
        self._table, self._changed = Table(), threading.Condition()

    def set(self, key: str, value: str | bytes) -> None:
        with self._changed:
            self._table.values[as_bytes(key, "key")] = as_bytes(value)
            self._changed.notify_all()

    def get(self, key: str) -> bytes:
        self.wait([key])
        with self._changed:
            return self._table.values[as_bytes(key, "key")]

    def add(self, key: str, amount: int) -> int:
        with self._changed:
            total = self._table.add(as_bytes(key, "key"), as_amount(amount))
            self._changed.notify_all()
            return total

    def compare_set(
        self, key: str, expected_value: str | bytes, desired_value: str | bytes
    ) -> bytes:
        with self._changed:
            wanted, desired = as_bytes(expected_value), as_bytes(desired_value)
            value = self._table.compare_set(as_bytes(key, "key"), wanted, desired)
            self._changed.notify_all()
            return value

    def check(self, keys: Sequence[str]) -> bool:
        with self._changed:
            return all(self._table.has(as_bytes(key, "key")) for key in keys)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        seconds = self._timeout if timeout is None else seconds_of(timeout)
        until = time.monotonic() + seconds
        with self._changed:
            while not all(self._table.has(as_bytes(key, "key")) for key in keys):
                left = until - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            else:
                return
        raise self._missing(keys, seconds)

    def delete_key(self, key: str) -> bool:
        with self._changed:
            return self._table.delete(as_bytes(key, "key"))

    def num_keys(self) -> int:
        with self._changed:
            return len(self._table)

    def append(self, key: str, value: str | bytes) -> None:
        with self._changed:
            self._table.append(as_bytes(key, "key"), as_bytes(value))
            self._changed.notify_all()

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Put `value` at the end of the queue `key`."""
        with self._changed:
            self._table.push(as_bytes(key, "key"), as_bytes(value))
            self._changed.notify_all()

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """The oldest entry of the queue `key`; QueueEmptyError if there is none and `block` is False."""
        until = time.monotonic() + self._timeout
        with self._changed:
            while (value := self._table.pop(as_bytes(key, "key"))) is None:
                left = until - time.monotonic()
                if not block or left <= 0:
                    raise QueueEmptyError(f"queue {key!r} is empty")
                self._changed.wait(left)
            return value

    def queue_len(self, key: str) -> int:
        """How many entries the queue `key` has."""
        with self._changed:
            return self._table.queue_length(as_bytes(key, "key"))

    def clone(self) -> HashStore:
        """The same store: its keys are shared."""
        return self
