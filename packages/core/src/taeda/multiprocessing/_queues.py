"""Queues over connections that bring descriptors along.

An object is pickled when it is put, so that what cannot be sent is refused there, and later changes
are not sent. No lock is needed around a packet: a process that is killed while it puts or gets
blocks nobody.
"""

from __future__ import annotations

import pickle
import time
from multiprocessing import queues as _standard
from queue import Empty
from typing import Any

from ._transport import Connection, Pipe, drop_arrived, pack

__all__ = ["JoinableQueue", "Queue", "SimpleQueue"]


class _NoLock:
    """What stands where the standard queues keep locks."""

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        return True

    def release(self) -> None:
        """Nothing was taken."""

    def __enter__(self) -> bool:
        return True

    def __exit__(self, *unused: object) -> None:
        """Nothing was taken."""


class _Carrying:
    """The part of a queue that differs from the standard one; the attributes are those of its base."""

    def __init__(self, maxsize: int = 0, *, ctx: Any) -> None:
        super().__init__(maxsize, ctx=ctx)  # type: ignore[call-arg]  # the other base
        mine: Any = self
        mine._reader.close()
        mine._writer.close()
        mine._reader, mine._writer = Pipe(duplex=False)
        mine._rlock = mine._wlock = _NoLock()
        mine._reset()

    def _reset(self, after_fork: bool = False) -> None:
        mine: Any = super()
        mine._reset(after_fork)
        mine = self
        if isinstance(mine._writer, Connection):  # not yet while the base sets itself up
            mine._send_bytes = mine._writer.send_fed

    def put(self, obj: Any, block: bool = True, timeout: float | None = None) -> None:
        """Put an object; Full if there is no room in time. What cannot be pickled is raised here."""
        base: Any = super()
        base.put(pack(obj), block, timeout)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """The next object; Empty if none comes in time."""
        mine: Any = self
        if mine._closed:
            raise ValueError(f"Queue {self!r} is closed")
        data = mine._reader.receive(0) if block and timeout is None else self._wait(block, timeout)
        mine._sem.release()
        return _unpack(data)

    def _wait(self, block: bool, timeout: float | None) -> bytes:
        mine: Any = self
        until = time.monotonic() + (max(timeout or 0.0, 0.0) if block else 0.0)
        while mine._poll(max(until - time.monotonic(), 0.0)):
            try:
                return mine._reader.receive()
            except BlockingIOError:  # another reader was faster
                continue
        raise Empty


def _unpack(data: bytes) -> Any:
    try:
        return pickle.loads(data)
    finally:
        drop_arrived()


class Queue(_Carrying, _standard.Queue):  # type: ignore[type-arg]  # not generic at run time
    """A queue for any number of processes; tensors in it travel as handles to shared memory."""


class JoinableQueue(_Carrying, _standard.JoinableQueue):  # type: ignore[type-arg]  # not generic at run time
    """A Queue that counts what was put and not yet reported by `task_done`."""


class SimpleQueue(_standard.SimpleQueue):  # type: ignore[type-arg]  # of anything
    """A queue without threads: `put` waits until there is room."""

    def __init__(self, *, ctx: Any) -> None:
        super().__init__(ctx=ctx)
        mine: Any = self
        mine._reader.close()
        mine._writer.close()
        mine._reader, mine._writer = Pipe(duplex=False)
        mine._rlock = mine._wlock = _NoLock()
        mine._poll = mine._reader.poll

    def put(self, obj: Any) -> None:
        """Put an object; what cannot be pickled is raised here."""
        mine: Any = self
        mine._writer.send(obj)

    def get(self) -> Any:
        """The next object, waited for."""
        mine: Any = self
        return mine._reader.recv()
