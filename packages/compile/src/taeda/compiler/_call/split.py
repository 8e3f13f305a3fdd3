"""A function whose last statements no graph does: those before them are compiled, the rest runs as
it is written.

    a step that counts, keeps a history, moves a schedule, returns loss.item()
        ─▶ head, a compiled function of its own ─▶ tail, plain Python
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from .._errors import CannotCopy
from .._watch.parts import parted

__all__ = ["Split", "split_at"]

_KEPT = ("__code__", "__defaults__", "__kwdefaults__")


class Split:
    """Runs a function in two parts. `head` is the state behind the compiled first part."""

    def __init__(self, function: Any, parts: Any, make: Callable[[Any], Any]) -> None:
        bound = isinstance(function, types.MethodType)
        self._function = function.__func__ if bound else function
        self._own: tuple[Any, ...] = (function.__self__,) if bound else ()
        self._as_it_was = tuple(getattr(self._function, name) for name in _KEPT)
        self._tail, self._given = parts.tail, parts.given
        self._count = self._function.__code__.co_argcount - len(self._own)
        self.head = make(types.MethodType(parts.head, function.__self__) if bound else parts.head)
        self.modules: list[Any] = []  # what the function called: units, if the head has no graph

    def takes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether the parts are those of the function as it is now, and the call gives all by place."""
        if kwargs or len(args) != self._count:
            return False
        function, kept = self._function, self._as_it_was
        return (
            function.__code__ is kept[0]
            and function.__defaults__ is kept[1]
            and function.__kwdefaults__ is kept[2]
        )

    def __call__(self, args: tuple[Any, ...]) -> Any:
        results = self.head(args, {})
        every = (*self._own, *args)
        return self._tail(*results, *(every[n] for n in self._given))


def split_at(function: Any, outer: tuple[Any, int], make: Callable[[Any], Any]) -> Split | None:
    """The function in two parts, before the line at which a recording ended; None if there are none."""
    own = function.__func__ if isinstance(function, types.MethodType) else function
    code, line = outer
    if not isinstance(own, types.FunctionType) or code is None:
        return None
    mine = own.__code__
    if (code.co_filename, code.co_firstlineno, code.co_name) != (
        mine.co_filename, mine.co_firstlineno, mine.co_name,
    ):  # fmt: skip
        return None
    try:
        return Split(function, parted(own, line), make)
    except CannotCopy:
        return None  # it stays as it is, as it would without parts
