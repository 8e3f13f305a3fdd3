"""The size of a ragged dimension: a number that stands for lengths, and prints as `j1`."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

from taeda import Tensor

__all__ = ["NestedInt", "keep_size", "size_for"]

_FIRST = 1 << 30
_numbers = itertools.count(1)
#: by id of offsets: the tensor itself, as long as somebody has it, and its size
_known: dict[int, tuple[Any, NestedInt]] = {}


class NestedInt(int):
    """The lengths of a ragged dimension, as one size: equal where the offsets are one tensor."""

    __ragged__ = True  # Size keeps such an int as it is

    def __repr__(self) -> str:
        return f"j{int(self) - _FIRST}"

    __str__ = __repr__


def size_for(offsets: Tensor | None) -> NestedInt:
    """The size that belongs to these offsets, the same each time; another of each None."""
    found = _known.get(id(offsets)) if offsets is not None else None
    if found is not None and found[0]() is offsets:
        return found[1]
    made = NestedInt(_FIRST + next(_numbers))
    if offsets is not None:
        keep_size(offsets, made)
    return made


def keep_size(offsets: Tensor, size: NestedInt) -> None:
    """From now on this size belongs to these offsets."""
    key = id(offsets)
    _known[key] = weakref.ref(offsets, lambda _: _known.pop(key, None)), size
