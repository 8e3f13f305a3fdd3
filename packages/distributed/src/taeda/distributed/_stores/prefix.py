"""A part of a store: every key gets a prefix."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from .base import Store

__all__ = ["PrefixStore"]


class PrefixStore(Store):
    """The keys of `store` that begin with `prefix` and a slash. Prefixes nest.

    Args:
        prefix: what stands before each key.
        store: the store that holds them.

    >>> from taeda.distributed import HashStore
    >>> whole = HashStore()
    >>> PrefixStore("group", whole).set("rank", "3")
    >>> whole.get("group/rank")
    b'3'
    """

    def __init__(self, prefix: str, store: Store) -> None:
        if not isinstance(store, Store):
            raise TypeError(f"PrefixStore wraps a Store, not {type(store).__name__}")
        super().__init__()
        self._prefix, self._store, self._timeout = prefix, store, store._timeout

    @property
    def underlying_store(self) -> Store:
        """The store that was wrapped."""
        return self._store

    def set_timeout(self, timeout: timedelta) -> None:
        super().set_timeout(timeout)
        self._store.set_timeout(timeout)

    def _of(self, key: str) -> str:
        if not isinstance(key, str):
            raise TypeError(f"a store's key is str, not {type(key).__name__}")
        return f"{self._prefix}/{key}"

    def set(self, key: str, value: str | bytes) -> None:
        self._store.set(self._of(key), value)

    def get(self, key: str) -> bytes:
        return self._store.get(self._of(key))

    def add(self, key: str, amount: int) -> int:
        return self._store.add(self._of(key), amount)

    def compare_set(
        self, key: str, expected_value: str | bytes, desired_value: str | bytes
    ) -> bytes:
        return self._store.compare_set(self._of(key), expected_value, desired_value)

    def check(self, keys: Sequence[str]) -> bool:
        return self._store.check([self._of(key) for key in keys])

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        self._store.wait([self._of(key) for key in keys], timeout)

    def delete_key(self, key: str) -> bool:
        return self._store.delete_key(self._of(key))

    def num_keys(self) -> int:
        """How many keys the whole store has, those without the prefix too."""
        return self._store.num_keys()

    def append(self, key: str, value: str | bytes) -> None:
        self._store.append(self._of(key), value)

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        return self._store.multi_get([self._of(key) for key in keys])

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        self._store.multi_set([self._of(key) for key in keys], values)

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Put `value` at the end of the queue `key`."""
        self._queues("queue_push")(self._of(key), value)

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """The oldest entry of the queue `key`."""
        return self._queues("queue_pop")(self._of(key), block)

    def queue_len(self, key: str) -> int:
        """How many entries the queue `key` has."""
        return self._queues("queue_len")(self._of(key))

    def _queues(self, name: str) -> Any:
        method = getattr(self._store, name, None)
        if method is None:
            raise NotImplementedError(f"{type(self._store).__name__} has no queues")
        return method

    def _leave_will(self, key: str, value: str | bytes) -> Any:
        return self._store._leave_will(self._of(key), value)

    def close(self) -> None:
        """Close the store's connections, if it has any."""
        close = getattr(self._store, "close", None)
        if close:
            close()

    def clone(self) -> PrefixStore:
        """Another view of the same keys, with its own connection if the store has one."""
        clone = getattr(self._store, "clone", None)
        return PrefixStore(self._prefix, clone() if clone else self._store)
