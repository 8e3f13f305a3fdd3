"""`multiprocessing` of the standard library, whose queues and pipes pass tensors by shared memory.

Everything of the standard module is here under its own name. Once this module is imported, a tensor
that is sent to another process has its bytes moved into shared memory, once; what travels is a
handle, and both sides see writes.

>>> import taeda
>>> import taeda.multiprocessing as mp
>>> queue = mp.SimpleQueue()
>>> queue.put(taeda.ones(3))
>>> queue.get().is_shared()
True
"""

from __future__ import annotations

import multiprocessing as _standard
from multiprocessing import *  # noqa: F403 - the point of the module: all of the standard one
from typing import Any

from taeda._storage import sharing as _sharing

from . import reductions as _reductions
from ._context import JoinableQueue, Pipe, Pool, Queue, SimpleQueue, get_context  # type: ignore[assignment]  # ours, not the standard ones
from .spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]
__all__ += _standard.__all__

_reductions.register()
_STRATEGIES = frozenset({"file_descriptor", "file_system"})


def get_all_sharing_strategies() -> set[str]:
    """The names that `set_sharing_strategy` takes.

    >>> sorted(taeda.multiprocessing.get_all_sharing_strategies())
    ['file_descriptor', 'file_system']
    """
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """How new shared storages are made in this process: "file_descriptor" unless it was changed.

    >>> taeda.multiprocessing.get_sharing_strategy()
    'file_descriptor'
    """
    return _sharing.strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose how storages that are shared from now on are made. AssertionError for an unknown name.

    "file_descriptor": memory without a name; each shared storage keeps one file descriptor open.
    "file_system": files in /dev/shm; no descriptor stays open, and a small process of its own
    removes each file when nobody holds it any more, even after SIGKILL.

    >>> strategy = taeda.multiprocessing.get_sharing_strategy()
    >>> taeda.multiprocessing.set_sharing_strategy(strategy)
    """
    assert new_strategy in _STRATEGIES, (
        f"unknown sharing strategy {new_strategy!r}: wanted one of {sorted(_STRATEGIES)}"
    )
    _sharing.strategy = new_strategy


def __getattr__(name: str) -> Any:
    return getattr(_standard, name)
