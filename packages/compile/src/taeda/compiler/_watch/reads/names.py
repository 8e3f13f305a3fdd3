"""Names: globals, builtins, and variables of the functions around."""

from __future__ import annotations

import builtins
import types
from typing import Any

from .old import Old

__all__ = ["Names", "Scope"]


class Scope:
    """What the copy of one function knows as its observer: the names of its globals and its closure."""

    __slots__ = ("_cells", "_globals", "_observer", "binary", "call", "caught", "change", "change_attribute",
                 "change_item", "context", "draw", "each", "fresh", "identity", "item", "joined",
                 "read", "set_item", "slice", "store", "whole")  # fmt: skip

    def __init__(self, observer: Names, function: types.FunctionType) -> None:
        self._observer = observer
        self._globals = function.__globals__
        self._cells = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )
        for name in self.__slots__[3:]:
            setattr(self, name, getattr(observer, name))

    def name(self, name: str, value: Any) -> Any:
        """A global or builtin that was read."""
        if self._observer.active:
            self._observer.saw_name(self._globals, name, value)
        return value

    def free(self, name: str, value: Any) -> Any:
        """A variable of the function around that was read."""
        if self._observer.active:
            self._observer.saw_cell(self._cells[name], name, value)
        return value


class Names(Old):
    """Guards names."""

    def saw_name(self, space: dict[str, Any], name: str, value: Any) -> None:
        if name in space:
            self.guards.variable(space, name, value)
            self.mark(value)
        else:
            self.guards.no_variable(space, name)
            found = space.get("__builtins__", builtins)
            table = found if isinstance(found, dict) else vars(found)
            if table.get(name) is value:  # a builtin is replaced by some programs, too
                self.guards.variable(table, name, value)

    def saw_cell(self, cell: Any, name: str, value: Any) -> None:
        self.guards.cell(cell, name, value)
        self.mark(value)
