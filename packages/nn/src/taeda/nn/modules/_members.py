"""The tables in which a module keeps its parameters, buffers and children.

A table is the truth about its names, and writes each of them through to the `__dict__` of the
module as well, so that `module.weight` is an ordinary attribute read. The epoch is a number of the
process that changes with every such write, with every attribute and every hook, for those who
remember something about a model.
"""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from taeda.utils.hooks import keep_apart

__all__ = [
    "CALL_HOOKS", "TABLES", "HookTable", "Members", "adopt_hooks", "adopt_tables", "note_change",
    "plain_hooks", "structure_epoch",
]  # fmt: skip

TABLES = ("_parameters", "_buffers", "_modules")
#: tables of hooks that a call looks at, and the others
CALL_HOOKS = frozenset(
    {"_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_forward_hooks",
     "_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_backward_pre_hooks",
     "_backward_hooks"}
)  # fmt: skip
STATE_HOOKS = frozenset(
    {"_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
     "_load_state_dict_post_hooks"}
)  # fmt: skip

_numbers = itertools.count(1)
_epoch = 0
_missing = object()


def structure_epoch() -> int:
    """A number that is another one after any module got, lost or changed a member, an attribute,
    its mode or a hook.

    An attribute that is set to the object it has changes nothing. The limits: what is written into
    `module.__dict__`, and what changes inside an attribute (a list, the values of a tensor), is not
    seen.
    """
    return _epoch


def note_change() -> None:
    """Give the epoch another number. Called after the change: who saw the old state has the old number.

    Every number is written once, so that two threads that change modules at the same time cannot
    hide a change.
    """
    global _epoch
    _epoch = next(_numbers)


class HookTable(OrderedDict[int, Any]):
    """Hooks of one kind by the id of their handle."""

    __module__ = "taeda.nn.modules.module"  # where pickles of modules with hooks find it

    def __setitem__(self, key: int, hook: Any) -> None:
        super().__setitem__(key, hook)
        note_change()

    def __delitem__(self, key: int) -> None:
        super().__delitem__(key)
        note_change()

    def pop(self, key: int, default: Any = _missing) -> Any:
        hook = super().pop(key) if default is _missing else super().pop(key, default)
        note_change()
        return hook

    def clear(self) -> None:
        super().clear()
        note_change()

    def move_to_end(self, key: int, last: bool = True) -> None:
        super().move_to_end(key, last)
        note_change()


class Members(dict[str, Any]):
    """Members of one kind by name, mirrored in the `__dict__` of their module, which is held weakly."""

    __slots__ = ("_owner",)

    def __init__(self, owner: object, entries: Mapping[str, Any] | None = None) -> None:
        super().__init__(entries or {})
        self._owner = weakref.ref(owner)
        if entries:
            owner.__dict__.update(entries)

    def _mirror(self) -> dict[str, Any]:
        owner = self._owner()
        return {} if owner is None else owner.__dict__

    def __setitem__(self, name: str, member: Any) -> None:
        super().__setitem__(name, member)
        self._mirror()[name] = member
        note_change()

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._mirror().pop(name, None)
        note_change()

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
        note_change()
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


def plain_hooks(state: dict[str, Any]) -> None:
    """In the state of a module: tables of hooks as plain ones, and none that are empty."""
    for name, table in list(state.items()):
        if isinstance(table, HookTable):
            state[name] = OrderedDict(table)
            if not table:
                del state[name]


def adopt_hooks(module: object) -> None:
    """Make tables of hooks of the plain ones that `module` came with, from a pickle or a file.
    TypeError for one that is none.
    """
    attributes = module.__dict__
    for name in (*CALL_HOOKS, *STATE_HOOKS):
        entries = attributes.get(name)
        if entries is None or isinstance(entries, HookTable):
            continue
        if not isinstance(entries, dict) or any(type(key) is not int for key in entries):
            raise TypeError(f"the state of a module has no table of hooks {name}")
        attributes[name] = HookTable(entries)
        keep_apart(entries)
        if entries and name in CALL_HOOKS:
            attributes["_hooked"] = True  # calls look for hooks from now on


def adopt_tables(module: object) -> None:
    """Make tables of the plain dicts that `module` came with, from a pickle or from an assignment."""
    attributes = module.__dict__
    for table in TABLES:
        entries = attributes.get(table)
        if entries is not None and (type(entries) is not Members or entries._owner() is not module):
            attributes[table] = Members(module, entries)
            note_change()
