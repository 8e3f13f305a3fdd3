"""Handles for registered callbacks: how a hook is taken off again."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, MutableMapping
from typing import Any

__all__ = ["RemovableHandle"]

Hooks = MutableMapping[int, Callable[..., Any]]

_next_id = itertools.count()
_numbering = threading.Lock()


class _LostHooks(dict[int, Any]):
    """Stands for a table of hooks that no longer exists."""


def keep_apart(known: Iterable[int]) -> None:
    """No handle gets a key of these from now on: they came with a file of another process."""
    global _next_id
    with _numbering:
        _next_id = itertools.count(max([next(_next_id), *(key + 1 for key in known)]))


class RemovableHandle:
    """A key into a table of hooks. Holds the table weakly, so a handle keeps nothing alive.

    `extra_dict` is one further table, or a sequence of them, from which the same key is removed too.
    Leaving a `with` block removes the hook; removing twice is harmless.

    >>> layer = taeda.nn.ReLU()
    >>> handle = layer.register_forward_hook(lambda module, args, result: print("called"))
    >>> _ = layer(taeda.ones(1))
    called
    >>> handle.remove()
    >>> _ = layer(taeda.ones(1))
    """

    id: int

    def __init__(self, hooks_dict: Hooks, *, extra_dict: Any = None) -> None:
        with _numbering:
            self.id = next(_next_id)
        tables = [extra_dict] if isinstance(extra_dict, MutableMapping) else list(extra_dict or ())
        self._tables = [weakref.ref(table) for table in (hooks_dict, *tables)]

    def remove(self) -> None:
        """Take the hook out of every table that still exists."""
        for reference in self._tables:
            table = reference()
            if table is not None:
                table.pop(self.id, None)

    def __getstate__(self) -> tuple[int, list[Any]]:
        return self.id, [table() for table in self._tables]

    def __setstate__(self, state: tuple[int, list[Any]]) -> None:
        self.id, tables = state
        self._tables = [weakref.ref(_LostHooks() if t is None else t) for t in tables]

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()
