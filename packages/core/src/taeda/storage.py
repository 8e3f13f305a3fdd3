"""Storages: the bytes behind tensors, as objects of their own, and the old names of those with a dtype."""

from __future__ import annotations

from ._pickling import _read, _rebuild, _rebuild_dispatching, _rebuild_subclass  # noqa: F401 - pickles find them here
from ._storage.typed import CLASSES, TypedStorage, _wrap  # noqa: F401 - the same
from ._storage.untyped import UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]

globals().update(CLASSES)  # FloatStorage and the like
