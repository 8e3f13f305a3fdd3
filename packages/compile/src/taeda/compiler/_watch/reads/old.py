"""What was there before the run: it is known, and guarded where it is read."""

from __future__ import annotations

import functools
import gc
import types
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api import programs as _core

from ..._kinds import (
    CONTAINERS,
    WRITTEN,
    is_immutable,
    is_optimizer_type,
    is_plain_instance,
    is_plain_tensor,
)
from ..session import Run

__all__ = ["Old"]

_IN_C = (types.BuiltinMethodType, types.MethodWrapperType)


class Old(Run):
    """Knows what is old: all that the run did not make."""

    def is_old(self, value: Any) -> bool:
        """Whether it was there before the run. A tensor is where a guard keeps it."""
        if id(value) in self._old:
            return True
        if isinstance(value, Tensor) or id(value) in self.given or self.is_new(value):
            return False
        self._note_unseen(value)
        return True

    def may_change(self, value: Any) -> bool:
        """Whether a change of it goes unseen: it is of this run, and of what is computed again."""
        known = id(value) in self.given or id(value) in self.around
        return not known and not self.is_old(value)

    def _note_unseen(self, value: Any) -> None:
        """Something old that nobody saw being read: known code gave it for what is guarded."""
        if type(value) is dict and not gc.is_tracked(value):
            self.stop("it reads a dict of which nobody saw whether it was there before")
        self.unseen.add(id(value))
        self.mark(value)

    def mark(self, value: Any) -> None:
        """A value that was read from something old, and is guarded there."""
        if is_immutable(value) or id(value) in self._old:
            return
        if id(value) in self.given:
            self.stop("an argument is reached in another way, too")
        self._old[id(value)] = value
        if isinstance(value, Tensor):
            if is_plain_tensor(value):
                self.recorder.add_input("kept", value, value)
            else:
                self.stop(f"it reads a tensor of the type {type(value).__name__}")
        elif not _has_open_state(value):
            self.stop(
                f"it reads a {type(value).__module__}.{type(value).__qualname__}, whose state is not seen"
            )
        else:
            for part in _parts(value):
                self.mark(part)
            if isinstance(value, functools.partial):
                for name in ("func", "args", "keywords"):  # __setstate__ exchanges them
                    self.guards.attribute(value, name, getattr(value, name))
                self.contents(value.keywords)

    def klass(self, kind: type) -> None:
        """Guard a class of the user, with all that it inherits from."""
        if kind in self._classes:
            return
        self._classes.add(kind)
        for base in kind.__mro__:
            if base.__flags__ & WRITTEN and not base.__module__.startswith(
                ("taeda.", "torch.nn.parameter")
            ):
                self.guards.klass(base)

    def contents(self, container: Any, *, deep: bool = True) -> None:
        """Guard what an old container holds, and what the containers in it hold: Python unpacks and
        compares those unseen. One of this run may hold old ones.
        """
        key = id(container)
        if key in self._walked or key in self._walking:
            return
        mutable = not isinstance(container, tuple | frozenset)
        entries = [*container, *(container.values() if isinstance(container, dict) else ())]
        if mutable and self.is_old(container):
            self.guards.contents(container)
            for value in entries:
                self.mark(value)
            if isinstance(container, set) and not all(is_immutable(v) for v in container):
                self.stop("it reads a set of objects")
            if deep:
                self._walked.add(key)
        if deep:
            self._walking.add(key)
            for value in entries:
                if isinstance(value, (*CONTAINERS, tuple, frozenset)):
                    self.contents(value)
            self._walking.discard(key)


def _parts(value: Any) -> Any:
    """What cannot be exchanged in it, so that who guards it guards them."""
    if isinstance(value, tuple | frozenset):
        return value
    if isinstance(value, types.MethodType):
        return value.__self__, value.__func__
    if isinstance(value, functools.partial):
        return value.func, *value.args, value.keywords, *value.keywords.values()
    own = getattr(value, "__self__", None) if isinstance(value, _IN_C) else None
    return () if own is None else (own,)


def _has_open_state(value: Any) -> bool:
    """Whether what it holds is read by ways that are seen."""
    if isinstance(value, (*CONTAINERS, tuple, frozenset, type, types.ModuleType, types.MethodType)):
        return True
    if isinstance(value, functools.partial):
        return True
    if isinstance(
        value,
        types.FunctionType
        | types.BuiltinFunctionType
        | types.MethodWrapperType
        | types.WrapperDescriptorType
        | types.GetSetDescriptorType
        | types.MemberDescriptorType
        | property
        | staticmethod
        | classmethod
        | super,
    ):
        return True
    if isinstance(
        value, types.MethodDescriptorType | types.ClassMethodDescriptorType | _core.Operator
    ):
        return True
    if isinstance(value, nn.Module | taeda.Generator) or is_optimizer_type(type(value)):
        return True
    if isinstance(value, types.GenericAlias | types.UnionType) or type(value).__module__ in (
        "typing",
        "taeda._parts",
    ):
        return True
    return type(value) in (object, types.SimpleNamespace) or is_plain_instance(value)
