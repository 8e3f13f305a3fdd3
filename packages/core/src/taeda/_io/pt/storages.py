"""The storages that a pickle names: what kind, how long, from which device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda.storage import TypedStorage, UntypedStorage

from .context import StorageType
from .errors import RefusedPickle

__all__ = ["Named", "as_storage", "named", "nowhere"]


@dataclass(frozen=True)
class Named:
    """What a pickle says of a storage."""

    kind: StorageType
    key: str
    location: str
    count: int  # of elements

    @property
    def nbytes(self) -> int:
        """Bytes that it must have."""
        return self.count * (self.kind.dtype.itemsize if self.kind.dtype else 1)


def named(identity: Any, length: int) -> tuple[Named, Any]:
    """An identity ("storage", kind, key, location, count[, view]), checked; and its view."""
    if not isinstance(identity, tuple) or not identity or identity[0] not in ("storage", "module"):
        raise RefusedPickle("an identity in the file names no storage")
    if identity[0] == "module":
        raise RefusedPickle(
            "this file holds a whole module: loading one would run code. Save the numbers with "
            "`save(module.state_dict(), path)` where the class is"
        )
    if len(identity) != length:
        raise RefusedPickle(f"a storage is named by {length} values, got {len(identity)}")
    _, kind, key, location, count = identity[:5]
    plain = isinstance(key, str) and isinstance(location, str) and len(location) < 100
    if not isinstance(kind, StorageType) or not plain or type(count) is not int:
        raise RefusedPickle("a storage is named by its kind, key, location and length")
    if not 0 <= count < 1 << 60:
        raise RefusedPickle(f"storage {key!r:.50} is said to have {count} elements")
    return Named(kind, key, location, count), identity[5:]


def as_storage(bytes: Tensor, kind: StorageType) -> Any:
    """The object that tensors are made of."""
    untyped = UntypedStorage.__new__(UntypedStorage)
    untyped._bytes = bytes
    return untyped if kind.dtype is None else TypedStorage(wrap_storage=untyped, dtype=kind.dtype)


def nowhere(count: int) -> Tensor:
    """A storage on the meta device."""
    return taeda.empty(count, dtype=taeda.uint8, device="meta")
