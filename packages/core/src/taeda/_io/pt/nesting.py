"""How deep an object from a file nests: bounded, so that what walks through it later does not fail."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from types import NoneType
from typing import Any

from ..steps import DEEPEST
from .arrays import DtypeRecord
from .context import Known, StorageType
from .errors import RefusedPickle

__all__ = ["check_nesting"]

_SMALL = 8
_SEQUENCES = (list, tuple, deque)
_PLAIN = (str, int, float, bytes, NoneType)
_NO_DATA = (Known, StorageType, DtypeRecord)


class _Open:
    """A container on the way down: what is still to be looked at, and the highest child so far."""

    def __init__(self, node: Any) -> None:
        self.node, self.rest, self.below = node, _inside(node), 0


def check_nesting(value: Any) -> None:
    """RefusedPickle if containers are nested too deeply, or one is inside itself. Does not recurse."""
    if isinstance(value, _NO_DATA):
        raise RefusedPickle(f"the object is {value!r:.100}, which is a name and no data")
    heights: dict[int, int] = {}
    way = [_Open(value)]
    open_now = {id(value)}
    while way:
        here = way[-1]
        child = next(here.rest, None)
        if child is None:
            way.pop()
            open_now.remove(id(here.node))
            heights[id(here.node)] = height = here.below + 1
            if height > DEEPEST:
                raise _too_deep()
            if way:
                way[-1].below = max(way[-1].below, height)
        elif id(child) in open_now:
            raise RefusedPickle("the object contains itself")
        elif id(child) in heights:
            here.below = max(here.below, heights[id(child)])
        elif len(way) >= DEEPEST:
            raise _too_deep()
        else:
            open_now.add(id(child))
            way.append(_Open(child))


def _too_deep() -> RefusedPickle:
    return RefusedPickle(f"the object is nested deeper than {DEEPEST} levels")


def _inside(value: Any) -> Iterator[Any]:
    """What there is in a container, or in the attributes of an object, that has to be looked into."""
    for item in _items(value):
        if isinstance(item, _NO_DATA):
            raise RefusedPickle(f"the object holds {item!r:.100}, which is a name and no data")
        if _holds_something(item) and not _is_leaf(item):
            yield item


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return chain(value.values(), [getattr(value, "_metadata", None)])
    if isinstance(value, _SEQUENCES):
        return value
    return _fields(value).values()


def _holds_something(value: Any) -> bool:
    if isinstance(value, _PLAIN):
        return False
    if isinstance(value, (dict, *_SEQUENCES)):
        return len(value) > 0
    return len(_fields(value)) > 0


def _fields(value: Any) -> dict[str, Any]:
    """The attributes of an object, without asking its class."""
    if isinstance(value, type):
        return {}
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}


def _is_leaf(value: Any) -> bool:
    """Whether a small container holds nothing to look at: most do, and need not be remembered."""
    if not isinstance(value, (dict, *_SEQUENCES)) or len(value) > _SMALL:
        return False
    return not any(isinstance(item, _NO_DATA) or _holds_something(item) for item in _items(value))
