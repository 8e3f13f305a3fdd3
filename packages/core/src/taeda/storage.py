"""Storages: the bytes behind tensors, as objects of their own, and the old names of those with a dtype."""

from __future__ import annotations

from ._typed_storage import CLASSES, TypedStorage
from ._untyped_storage import UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]

globals().update(CLASSES)  # FloatStorage and the like
