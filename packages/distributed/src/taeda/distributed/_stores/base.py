"""What every store can do, in terms of a few operations of its own."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from .._errors import DistStoreError
from .._settings import STORE_TIMEOUT

__all__ = ["Store", "as_amount", "as_bytes", "seconds_of"]


def as_bytes(value: object, what: str = "value") -> bytes:
    """Text or bytes as bytes. TypeError for anything else."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"a store's {what} is str or bytes, not {type(value).__name__}")


def as_amount(value: object) -> int:
    """What is added to a counter: a whole number, else TypeError. A fraction would be lost."""
    try:
        return operator.index(value)  # type: ignore[arg-type]  # that is what is asked
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"a store adds a whole number, not {kind} {value!r}") from None


def seconds_of(timeout: timedelta | float, what: str = "timeout") -> float:
    """A positive number of seconds. TypeError and ValueError say what came instead."""
    if isinstance(timeout, timedelta):
        seconds = timeout.total_seconds()
    elif isinstance(timeout, (int, float)) and not isinstance(timeout, bool):
        seconds = float(timeout)
    else:
        raise TypeError(f"{what} is a datetime.timedelta, not {type(timeout).__name__}")
    if not seconds > 0:
        raise ValueError(f"{what} must be longer than nothing, not {seconds:g} s")
    return seconds


class Store:
    """A mapping from text to bytes that processes share. All methods may be called from any thread.

    Subclass it and define `set`, `get`, `add`, `compare_set`, `check`, `wait`, `delete_key`, `num_keys` and
    `append` to make a store of one's own; those may be given to `init_process_group`.

    >>> from taeda import distributed as dist
    >>> class Words(dist.Store):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.values = {}
    ...     def set(self, key, value):
    ...         self.values[key] = value.encode() if isinstance(value, str) else value
    ...     def get(self, key):
    ...         return self.values[key]
    >>> store = Words()
    >>> store.set("a", "b")
    >>> store.get("a")
    b'b'
    """

    def __init__(self) -> None:
        self._timeout = STORE_TIMEOUT.total_seconds()

    @property
    def timeout(self) -> timedelta:
        """How long `get` and `wait` wait."""
        return timedelta(seconds=self._timeout)

    def set_timeout(self, timeout: timedelta) -> None:
        """Wait this long from now on. ValueError for none or less."""
        self._timeout = seconds_of(timeout)

    def set(self, key: str, value: str | bytes) -> None:
        """Store `value` under `key`, over what was there."""
        raise NotImplementedError(f"{type(self).__name__}.set")

    def get(self, key: str) -> bytes:
        """The value of `key`, waiting for it at most `timeout`; DistStoreError after that."""
        raise NotImplementedError(f"{type(self).__name__}.get")

    def add(self, key: str, amount: int) -> int:
        """Add to the counter `key`, which begins at 0, and return its new value."""
        raise NotImplementedError(f"{type(self).__name__}.add")

    def compare_set(
        self, key: str, expected_value: str | bytes, desired_value: str | bytes
    ) -> bytes:
        """Set `key` if it has the expected value; an empty one expects that it is absent.

        Return the value after that. A missing key with a non-empty expectation returns that expectation.
        """
        raise NotImplementedError(f"{type(self).__name__}.compare_set")

    def check(self, keys: Sequence[str]) -> bool:
        """Are all `keys` there?"""
        raise NotImplementedError(f"{type(self).__name__}.check")

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Return when all `keys` are there; DistStoreError, which names the missing ones, after `timeout`."""
        raise NotImplementedError(f"{type(self).__name__}.wait")

    def delete_key(self, key: str) -> bool:
        """Remove `key`; was it there?"""
        raise NotImplementedError(f"{type(self).__name__}.delete_key")

    def num_keys(self) -> int:
        """How many keys there are."""
        raise NotImplementedError(f"{type(self).__name__}.num_keys")

    def append(self, key: str, value: str | bytes) -> None:
        """Put `value` behind what is there."""
        raise NotImplementedError(f"{type(self).__name__}.append")

    def has_extended_api(self) -> bool:
        """Are `append`, `multi_get` and `multi_set` there? They are, in every store of this package."""
        return True

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """The values of all `keys`, waiting as `get` does."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Set every key to the value of the same place."""
        if len(keys) != len(values):
            raise ValueError(f"multi_set got {len(keys)} keys and {len(values)} values")
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def _leave_will(self, key: str, value: str | bytes) -> Any:
        """Have `key` set when this process ends; what is returned does it by its `close`.
        None: no server does that.
        """
        return None

    def _missing(self, keys: Sequence[str], seconds: float) -> DistStoreError:
        absent = [key for key in keys if not self.check([key])] or list(keys)
        return DistStoreError(
            f"wait timeout after {seconds:g} s: nobody set {', '.join(map(repr, absent))} "
            f"in this {type(self).__name__}"
        )
