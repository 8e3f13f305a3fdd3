# ruff: noqa: N802 - names of the standard library
"""Contexts of the standard library, with our queues and pipes; what stands at module level goes
through them.
"""

from __future__ import annotations

import multiprocessing
from typing import Any

from . import _queues, _transport

__all__ = ["JoinableQueue", "Pipe", "Pool", "Queue", "SimpleQueue", "get_context"]


class _Carrying:
    """What a context makes differently."""

    def Pipe(self, duplex: bool = True) -> Any:
        """Two connected ends."""
        return _transport.Pipe(duplex)

    def Queue(self, maxsize: int = 0) -> Any:
        """A queue for any number of processes."""
        return _queues.Queue(maxsize, ctx=self)

    def JoinableQueue(self, maxsize: int = 0) -> Any:
        """A queue that can be waited for until all is done."""
        return _queues.JoinableQueue(maxsize, ctx=self)

    def SimpleQueue(self) -> Any:
        """A queue without threads."""
        return _queues.SimpleQueue(ctx=self)

    def get_context(self, method: str | None = None) -> Any:
        """This context, or that of another start method."""
        return self if method is None else get_context(method)


def _ours(method: str) -> Any:
    kind = type(multiprocessing.get_context(method))
    return type(kind.__name__, (_Carrying, kind), {"__doc__": kind.__doc__})()


_contexts: dict[str, Any] = {}


def get_context(method: str | None = None) -> Any:
    """The context of a start method, or of the one in use. ValueError for an unknown one.

    >>> taeda.multiprocessing.get_context("spawn").get_start_method()
    'spawn'
    """
    name = multiprocessing.get_context(method).get_start_method()
    if name not in _contexts:
        _contexts[name] = _ours(name)
    return _contexts[name]


def Pipe(duplex: bool = True) -> Any:
    """Two connected ends; with duplex=False the first only receives and the second only sends.

    >>> receives, sends = taeda.multiprocessing.Pipe(duplex=False)
    >>> sends.send(taeda.ones(2))
    >>> receives.recv().tolist()
    [1.0, 1.0]
    """
    return _transport.Pipe(duplex)


def Queue(maxsize: int = 0) -> Any:
    """A queue for any number of processes, of at most `maxsize` objects if that is positive.

    >>> queue = taeda.multiprocessing.Queue()
    >>> queue.put(taeda.ones(2))  # another process would
    >>> queue.get().tolist()
    [1.0, 1.0]
    """
    return get_context().Queue(maxsize)


def JoinableQueue(maxsize: int = 0) -> Any:
    """A Queue with `task_done` and `join`.

    >>> queue = taeda.multiprocessing.JoinableQueue()
    >>> queue.put(taeda.ones(2))
    >>> queue.get().tolist()
    [1.0, 1.0]
    >>> queue.task_done()
    >>> queue.join()  # everything that was put in is done
    """
    return get_context().JoinableQueue(maxsize)


def SimpleQueue() -> Any:
    """A queue without threads: `put` waits until there is room.

    >>> queue = taeda.multiprocessing.SimpleQueue()
    >>> queue.put(taeda.ones(2))
    >>> queue.get().tolist(), queue.empty()
    ([1.0, 1.0], True)
    """
    return get_context().SimpleQueue()


def Pool(
    processes: int | None = None,
    initializer: Any = None,
    initargs: tuple[Any, ...] = (),
    maxtasksperchild: int | None = None,
) -> Any:
    """Processes that share out calls; see multiprocessing.Pool.

    >>> with taeda.multiprocessing.Pool(1) as pool:
    ...     [x.tolist() for x in pool.map(taeda.neg, [taeda.ones(2), taeda.zeros(1)])]
    [[-1.0, -1.0], [-0.0]]
    """
    return get_context().Pool(processes, initializer, initargs, maxtasksperchild)
