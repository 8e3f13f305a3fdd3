"""Storages: the bytes behind tensors, as objects of their own, and the old names of those with a dtype."""

from __future__ import annotations

from ._storage.typed import CLASSES, TypedStorage
from ._storage.untyped import UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]

globals().update(CLASSES)  # FloatStorage and the like
