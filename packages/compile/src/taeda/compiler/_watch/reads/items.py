"""Items of containers, and of whatever has them: read, stored, changed in place."""

from __future__ import annotations

import collections
import os
import types
from typing import Any

import taeda
from taeda import Tensor, nn

from ..._kinds import CONTAINERS, is_immutable
from ..guards import same_value
from .attributes import Attributes

__all__ = ["Items"]


_C_GETITEM: set[Any] = {kind.__getitem__ for kind in (list, dict, collections.deque)}
_C_SETITEM: set[Any] = {
    kind.__setitem__ for kind in (list, dict, collections.deque, collections.OrderedDict)
}
_C_OF_VALUES: set[Any] = {kind.__getitem__ for kind in (tuple, str, bytes, range, taeda.Size)}


class Items(Attributes):
    """Sees items."""

    def item(self, owner: Any, key: Any) -> Any:
        """owner[key]"""
        kind: Any = type(owner)
        if not self.active:
            return owner[key]
        if isinstance(owner, Tensor):
            self._all_of(key)  # C reads it
            return owner[key]
        self.klass(kind)
        if kind.__getitem__ in _C_OF_VALUES if hasattr(kind, "__getitem__") else False:
            return owner[key]
        if isinstance(owner, CONTAINERS) and kind.__getitem__ in _C_GETITEM:
            return self._item_of_container(owner, key)
        read: Any = owner
        if isinstance(owner, type):  # list[int]
            return read[key]
        if isinstance(owner, nn.Module):
            self.tree(owner)
            value = read[key]
            self.mark(value)
            return value
        if owner is os.environ:
            return self.call(owner.__getitem__, key)
        getter = getattr(type(owner), "__getitem__", None)
        if isinstance(getter, types.FunctionType):
            return self.call(getter, owner, key)
        if self.is_old(owner):
            self.stop(f"it reads an item of a {type(owner).__name__}")
        return owner[key]

    def _item_of_container(self, owner: Any, key: Any) -> Any:
        if not self.is_old(owner):
            return owner[key]
        if isinstance(owner, dict) and key not in owner:
            self.contents(owner)
            if hasattr(type(owner), "__missing__"):
                self.stop("it makes an entry of a dict that was there before")
            return owner[key]
        value = owner[key]
        if isinstance(key, slice):
            self.contents(owner)
            return value
        if is_immutable(key) or self.is_old(key):
            self.guards.item(owner, key, value)
            self.mark(value)
        else:
            self.stop(f"it looks up a {type(key).__name__} in a dict that was there before")
        return value

    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        """owner[key] = value"""
        if self.active and isinstance(owner, Tensor):
            self._all_of((key, value))
        elif self.active:
            self._sets_item(owner, key, value)
        owner[key] = value

    def _sets_item(self, owner: Any, key: Any, value: Any) -> None:
        kind: Any = type(owner)
        if not self.may_change(owner):
            if (
                self.is_old(owner)
                and isinstance(owner, dict)
                and key in owner
                and same_value(owner[key], value)
            ):
                self._item_of_container(owner, key)
                return
            setting_up = isinstance(owner, dict) and key not in owner
            self.stop("it stores into a container that was there before", passing=setting_up)
        elif not isinstance(owner, CONTAINERS) or kind.__setitem__ not in _C_SETITEM:
            self.stop(f"it stores an item of a {kind.__name__}")

    def change_item(self, owner: Any, key: Any, op: str, value: Any) -> None:
        """owner[key] += value"""
        self.set_item(owner, key, self.change(op, self.item(owner, key), value))
