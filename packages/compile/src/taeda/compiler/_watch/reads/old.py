"""What was there before the run: it is known, and guarded where it is read."""

from __future__ import annotations

import functools
import types
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api import programs as _core

from ..._kinds import CONTAINERS, is_immutable, is_plain_instance, is_plain_tensor
from ..session import Run

__all__ = ["Old"]


class Old(Run):
    """Knows what is old."""

    def is_old(self, value: Any) -> bool:
        """Whether it was there before the run, as far as anybody saw."""
        return id(value) in self._old

    def may_change(self, value: Any) -> bool:
        """Whether a change of it goes unseen: it is of this run."""
        return id(value) not in self._old and id(value) not in self.given

    def mark(self, value: Any) -> None:
        """A value that was read from something old, and is guarded there."""
        if is_immutable(value) or id(value) in self._old:
            return
        self._old[id(value)] = value
        if isinstance(value, Tensor):
            if is_plain_tensor(value):
                self.recorder.add_input("kept", value, value)
            else:
                self.stop(f"it reads a tensor of the type {type(value).__name__}")
        elif isinstance(value, tuple | frozenset):
            for entry in value:
                self.mark(entry)
        elif not _has_open_state(value):
            self.stop(
                f"it reads a {type(value).__module__}.{type(value).__qualname__}, whose state is not seen"
            )

    def contents(self, container: Any, *, deep: bool = True) -> None:
        """Guard what an old container holds, and what the containers in it hold: Python unpacks and
        compares those unseen.
        """
        if isinstance(container, tuple | frozenset):
            if deep:
                self._inner(container)
            return
        if not self.is_old(container) or id(container) in self._walked:
            return
        if deep:
            self._walked.add(id(container))
        if isinstance(container, set):
            if not all(is_immutable(v) for v in container):
                self.stop("it reads a set of objects")
            self.guards.contents(container)
            return
        self.guards.contents(container)
        entries = [*container, *(container.values() if isinstance(container, dict) else ())]
        for value in entries:
            self.mark(value)
        if deep:
            self._inner(entries)

    def _inner(self, entries: Any) -> None:
        for value in entries:
            if isinstance(value, (*CONTAINERS, tuple)):
                self.contents(value)


def _has_open_state(value: Any) -> bool:
    """Whether what it holds is read by ways that are seen."""
    if isinstance(value, (*CONTAINERS, type, types.ModuleType, types.MethodType)):
        return True
    if isinstance(value, functools.partial):
        return True
    if isinstance(
        value,
        types.FunctionType
        | types.BuiltinFunctionType
        | types.MethodWrapperType
        | types.WrapperDescriptorType,
    ):
        return True
    if isinstance(
        value, types.MethodDescriptorType | types.ClassMethodDescriptorType | _core.Operator
    ):
        return True
    if isinstance(value, nn.Module | taeda.Generator) or hasattr(value, "param_groups"):
        return True
    if isinstance(value, types.GenericAlias | types.UnionType) or type(value).__module__ in (
        "typing",
        "taeda._parts",
    ):
        return True
    return type(value) is object or is_plain_instance(value)
