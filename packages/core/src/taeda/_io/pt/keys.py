"""Keys of dicts and members of sets: only such as cannot make hashing slow.

Hashes of numbers and tuples are known in advance, so a file could hold thousands of keys with one
hash, or a tuple that doubles at every level.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import taeda

from .. import safetypes
from ..budget import Budget
from .errors import RefusedPickle

__all__ = ["Keys"]

_PARTS = 64
_SAME_HASH = 16
_DISTINCT = 1 << 60  # smaller integers have hashes of their own
_TRACKED = 250  # bytes to remember a key
_PLAIN = (type(None), bool, int, float, complex, str, bytes, taeda.dtype, taeda.device)


class Keys:
    """All keys of one file."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.seen: dict[int, list[Any]] = {}

    def checked(self, value: Any) -> Any:
        """`value`, if it may be a key; else RefusedPickle."""
        kind = type(value)
        if kind is str or kind is bytes or (kind is int and -_DISTINCT < value < _DISTINCT):
            return value
        if _parts(value, _PARTS) < 0:
            raise RefusedPickle(
                f"a {kind.__name__} is used as a key: only numbers, texts, bytes, None, dtypes, "
                f"devices, and tuples of up to {_PARTS} of them can be"
            )
        alike = self.seen.setdefault(hash(value), [])
        if value not in alike:
            if len(alike) >= _SAME_HASH:
                raise RefusedPickle("too many keys have the same hash: refused as an attack")
            self.budget.spend(_TRACKED)
            alike.append(value)
        return value


def _parts(value: Any, left: int) -> int:
    """`left` less the number of values in a key; negative if that is too many, or one cannot be a key."""
    if isinstance(value, _PLAIN):
        return left - 1
    if _is_record(type(value)):
        value = tuple(getattr(value, field.name, ...) for field in dataclasses.fields(value))
    if not isinstance(value, (tuple, frozenset)):
        return -1
    left -= 1
    for item in value:
        if left < 0:
            break
        left = _parts(item, left)
    return left


def _is_record(kind: type) -> bool:
    """A frozen data class that the user allowed, whose hash and comparison `dataclass` itself made."""
    params: Any = getattr(kind, "__dataclass_params__", None)
    if params is None or not (params.frozen and params.eq) or not safetypes.is_allowed(kind):
        return False
    made = (kind.__dict__.get("__hash__"), kind.__dict__.get("__eq__"))
    return all(getattr(getattr(f, "__code__", None), "co_filename", "") == "<string>" for f in made)
