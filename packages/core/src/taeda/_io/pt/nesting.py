"""How deep an object from a file nests: bounded, so that what walks through it later does not fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from .arrays import DtypeRecord
from .context import Known, StorageType
from .errors import RefusedPickle

__all__ = ["check_nesting"]

_DEEPEST = 1000
_SMALL = 8
_CONTAINERS = (list, tuple, dict)
_NO_DATA = (Known, StorageType, DtypeRecord)


class _Open:
    """A container on the way down: what is still to be looked at, and the highest child so far."""

    def __init__(self, node: Any) -> None:
        self.node, self.rest, self.below = node, _inside(node), 0


def check_nesting(value: Any) -> None:
    """RefusedPickle if containers are nested too deeply, or one is inside itself. Does not recurse."""
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
            if height > _DEEPEST:
                raise _too_deep()
            if way:
                way[-1].below = max(way[-1].below, height)
        elif id(child) in open_now:
            raise RefusedPickle("the object contains itself")
        elif id(child) in heights:
            here.below = max(here.below, heights[id(child)])
        elif len(way) >= _DEEPEST:
            raise _too_deep()
        else:
            open_now.add(id(child))
            way.append(_Open(child))


def _too_deep() -> RefusedPickle:
    return RefusedPickle(f"the object is nested deeper than {_DEEPEST} levels")


def _inside(value: Any) -> Iterator[Any]:
    """The containers in a container that have to be looked into."""
    for item in _items(value):
        if isinstance(item, _NO_DATA):
            raise RefusedPickle(f"the object holds {item!r:.100}, which is a name and no data")
        if isinstance(item, _CONTAINERS) and item and not _is_leaf(item):
            yield item


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return chain(value.values(), [getattr(value, "_metadata", None)])
    return value if isinstance(value, _CONTAINERS) else (value,)


def _is_leaf(value: Any) -> bool:
    """Whether a small container holds nothing to look at: most do, and need not be remembered."""
    if len(value) > _SMALL:
        return False
    return not any(isinstance(item, _CONTAINERS + _NO_DATA) for item in _items(value))
