"""Which classes a program would have to allow so that an object can be saved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import safetypes

__all__ = ["classes_to_allow"]

_MOST = 100_000  # objects that are looked at


def classes_to_allow(value: Any) -> list[str]:
    """The full names of classes of objects inside of `value` that have fields, and that nobody allowed, in
    the order in which they are met.
    """
    found: dict[str, None] = {}
    met: set[int] = set()
    kept: list[Any] = []  # so that no identity is given twice
    waiting = [value]
    while waiting and len(met) < _MOST:
        one = waiting.pop()
        if id(one) in met:
            continue
        met.add(id(one))
        kept.append(one)
        kind = one if isinstance(one, type) else type(one)
        if (name := _to_allow(kind, one)) is not None:
            found[name] = None
        if kind is not one:
            waiting += reversed(list(_parts(one)))
    return list(found)


def _to_allow(kind: type, value: Any) -> str | None:
    if kind.__module__ == "builtins" or kind.__module__.partition(".")[0] in (
        "taeda",
        "numpy",
        "collections",
    ):
        return None
    if not safetypes.is_plain(kind) or safetypes.is_allowed(kind):
        return None
    return safetypes.findable_name(kind)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from value
    if safetypes.is_plain(type(value)):
        yield from vars(value).values() if hasattr(value, "__dict__") else ()
