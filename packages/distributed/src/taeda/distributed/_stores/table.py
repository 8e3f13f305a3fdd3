"""The operations on a plain dictionary that a server and a store inside one process have in common."""

from __future__ import annotations

from collections import deque

from .._errors import DistStoreError

__all__ = ["Table"]


class Table:
    """Keys, values and queues. No locks and no waiting: whoever owns it brings both."""

    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}
        self.queues: dict[bytes, deque[bytes]] = {}

    def has(self, key: bytes) -> bool:
        return key in self.values or bool(self.queues.get(key))

    def add(self, key: bytes, amount: int) -> int:
        """DistStoreError if the value is no number; the value stays."""
        old = self.values.get(key, b"0")
        try:
            total = int(old) + amount
        except ValueError:
            raise DistStoreError(
                f"add to {key.decode(errors='replace')!r}: its value {old[:40]!r} is no number"
            ) from None
        self.values[key] = str(total).encode()
        return total

    def compare_set(self, key: bytes, expected: bytes, desired: bytes) -> bytes:
        old = self.values.get(key)
        if old is None and expected:
            return expected
        if old == expected or (old is None and not expected):
            self.values[key] = desired
            return desired
        assert old is not None
        return old

    def append(self, key: bytes, value: bytes) -> None:
        self.values[key] = self.values.get(key, b"") + value

    def delete(self, key: bytes) -> bool:
        queued = self.queues.pop(key, None)
        return self.values.pop(key, None) is not None or bool(queued)

    def push(self, key: bytes, value: bytes) -> None:
        self.queues.setdefault(key, deque()).append(value)

    def pop(self, key: bytes) -> bytes | None:
        """The oldest entry of a queue, or None."""
        queue = self.queues.get(key)
        if not queue:
            return None
        value = queue.popleft()
        if not queue:
            del self.queues[key]
        return value

    def queue_length(self, key: bytes) -> int:
        return len(self.queues.get(key, ()))

    def __len__(self) -> int:
        return len(self.values) + len(self.queues)
