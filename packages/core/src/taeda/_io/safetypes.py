"""Classes of the user whose instances files may hold, because the user said so.

A file names such a class; it is looked up here and never imported. No code of the class runs when an instance is
made: fields are put in place as they were.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from types import MemberDescriptorType
from typing import Any

__all__ = ["add", "clear", "listed", "name_of", "put_fields", "restore", "state_of", "type_named"]

Listed = Any  # a class (or function), or (class, full name)
_by_name: dict[str, Any] = {}
_listed: list[Listed] = []


def add(items: Iterable[Listed]) -> None:
    """Allow classes, each as itself or as (class, the full name that files give it)."""
    for item in items:
        thing, name = item if isinstance(item, tuple) else (item, _full_name(item))
        if not callable(thing) or not isinstance(name, str):
            raise TypeError(f"wanted a class or (class, full name), got {item!r}")
        _by_name[name] = thing
        if item not in _listed:
            _listed.append(item)


def clear() -> None:
    """Allow none."""
    _by_name.clear()
    _listed.clear()


def listed() -> list[Listed]:
    """What was given to `add`, in order."""
    return list(_listed)


def name_of(kind: type) -> str | None:
    """The full name of an allowed class, None for others."""
    return next((name for name, thing in _by_name.items() if thing is kind), None)


def type_named(name: str) -> Any:
    """What was allowed under a full name, or None."""
    return _by_name.get(name)


def _full_name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


# ---- instances as data ----


def state_of(value: Any) -> Any:
    """What makes up an instance of an allowed class; TypeError for kinds that data cannot make again."""
    kind = type(value)
    if issubclass(kind, enum.Enum):
        return value.name
    if issubclass(kind, tuple):
        return tuple(value)
    if hasattr(value, "__dict__") or _slots(kind):
        slots = {n: getattr(value, n) for n in _slots(kind) if hasattr(value, n)}
        return {**slots, **getattr(value, "__dict__", {})}
    raise TypeError(f"an instance of {_full_name(kind)} cannot be made from data alone")


def restore(kind: type, state: Any) -> Any:
    """The instance that `state_of` took apart; no method of the class is called."""
    if issubclass(kind, enum.Enum):
        return kind.__members__[state]
    if issubclass(kind, tuple):
        return tuple.__new__(kind, state)
    made = object.__new__(kind)
    put_fields(made, state)
    return made


def put_fields(target: Any, fields: dict[str, Any]) -> None:
    """Set fields without a call to the class. AttributeError if it has no place for one."""
    slots = _slots(type(target))
    for name in slots & fields.keys():
        object.__setattr__(target, name, fields[name])
    if rest := {name: value for name, value in fields.items() if name not in slots}:
        object.__getattribute__(target, "__dict__").update(rest)


def _slots(kind: type) -> set[str]:
    """The names of the members that are kept outside of `__dict__`."""
    return {
        name
        for base in kind.__mro__
        for name, member in base.__dict__.items()
        if isinstance(member, MemberDescriptorType)
    }
