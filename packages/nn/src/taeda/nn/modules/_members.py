"""The tables in which a module keeps its parameters, buffers and children.

A table is the truth about its names, and writes each of them through to the `__dict__` of the module
as well, so that `module.weight` is an ordinary attribute read. The epoch counts such writes in all
modules, for those who remember something about the structure of a model.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

__all__ = ["TABLES", "Members", "adopt_tables", "note_change", "structure_epoch"]

TABLES = ("_parameters", "_buffers", "_modules")

_epoch = 0
_missing = object()


def structure_epoch() -> int:
    """A number that grows whenever any module gains, loses or exchanges a member or a hook."""
    return _epoch


def note_change() -> None:
    """Let the epoch grow."""
    global _epoch
    _epoch += 1


class Members(dict[str, Any]):
    """Members of one kind by name, mirrored in the `__dict__` of their module, which is held weakly."""

    __slots__ = ("_owner",)

    def __init__(self, owner: object, entries: Mapping[str, Any] | None = None) -> None:
        super().__init__(entries or {})
        self._owner = weakref.ref(owner)
        if entries:
            owner.__dict__.update(entries)

    def _mirror(self) -> dict[str, Any]:
        note_change()
        owner = self._owner()
        return {} if owner is None else owner.__dict__

    def __setitem__(self, name: str, member: Any) -> None:
        super().__setitem__(name, member)
        self._mirror()[name] = member

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._mirror().pop(name, None)

    def pop(self, name: str, default: Any = _missing) -> Any:
        if name not in self:
            if default is _missing:
                raise KeyError(name)
            return default
        member = self[name]
        del self[name]
        return member

    def popitem(self) -> tuple[str, Any]:
        name, member = super().popitem()
        self._mirror().pop(name, None)
        return name, member

    def clear(self) -> None:
        for name in list(self):
            del self[name]

    def update(self, entries: Any = (), /, **named: Any) -> None:
        for name, member in dict(entries, **named).items():
            self[name] = member

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def __ior__(self, entries: Any) -> Members:  # type: ignore[misc,override]  # `|` makes plain dicts
        self.update(entries)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)  # a module that is being restored makes tables of its own


def adopt_tables(module: object) -> None:
    """Make tables of the plain dicts that `module` came with, from a pickle or from an assignment."""
    attributes = module.__dict__
    for table in TABLES:
        entries = attributes.get(table)
        if entries is not None and (type(entries) is not Members or entries._owner() is not module):
            attributes[table] = Members(module, entries)
