"""Locks that a fork waits for.

A child has one thread. A lock that another thread of its parent held would never open there, and
what that thread had begun would stay half done. So a fork takes these locks first, and both
processes open them after it.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any, TypeVar
from weakref import WeakSet

__all__ = ["taken_for_forks"]

# seconds for all of them: a thread that waits for the one that forks holds its own longer
WAIT = 2.0

Lock = TypeVar("Lock")
_locks: WeakSet[Any] = WeakSet()
_here = threading.local()


def taken_for_forks(lock: Lock) -> Lock:
    """`lock`, which forks of this process wait for from now on."""
    _locks.add(lock)
    return lock


def _take() -> None:
    until = time.monotonic() + WAIT
    _here.taken = [
        lock for lock in list(_locks) if lock.acquire(timeout=max(0.0, until - time.monotonic()))
    ]


def _release() -> None:
    for lock in reversed(_here.taken):
        lock.release()
    _here.taken = []


os.register_at_fork(before=_take, after_in_parent=_release, after_in_child=_release)
