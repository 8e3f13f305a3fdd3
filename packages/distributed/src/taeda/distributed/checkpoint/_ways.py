"""How the ranks of a save or load speak to each other, and the number of a save in the background."""

from __future__ import annotations

import weakref
from concurrent.futures import Future
from typing import Any

from .._groups.world import the_group, world
from ._agreement import Alone, ByCollectives, ByStore, Bytes

__all__ = ["group_of", "in_background", "in_foreground", "runs", "wait_for_background"]

_counts: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_running: weakref.WeakKeyDictionary[Any, Future[Any]] = weakref.WeakKeyDictionary()


class _Alone:
    """Stands for the group of a process that has none."""


_alone = _Alone()


def runs(group: Any, future: Future[Any]) -> None:
    """A save of the group runs in the background."""
    _running[_alone if group is None else group] = future


def wait_for_background(group: Any) -> None:
    """Return when the save in the background has ended; whoever holds its future sees how."""
    former = _running.get(_alone if group is None else group)
    if former is not None:
        former.exception()


def group_of(chosen: Any, no_dist: bool = False) -> Any:
    """The group that saves or loads; None for this process alone.

    ValueError for a process that is not in the group that it names.
    """
    if no_dist or (chosen is None and world().default is None):
        return None
    found = the_group(chosen, "checkpoint")
    if found is None:
        raise ValueError(
            "this process is not in the group that saves or loads: let its members call"
        )
    return found


def in_foreground(group: Any) -> Bytes:
    """Collectives, if there are others."""
    return Alone() if group is None or group.size() == 1 else ByCollectives(group)


def in_background(group: Any) -> Bytes:
    """The store, if there are others."""
    if group is None or group.size() == 1:
        return Alone()
    number = _counts[group] = _counts.get(group, 0) + 1
    return ByStore(group, f"checkpoint/{number}")
