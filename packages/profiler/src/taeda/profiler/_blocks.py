"""What the allocator takes and gives back, for several who listen: one stream for the process."""

from __future__ import annotations

import threading
from typing import Protocol

from taeda._core_api.runtime import memory_note, memory_noted

__all__ = ["Listener", "deliver", "listen", "stop_listening"]


class Listener(Protocol):
    """Hears of each block, in order."""

    def block(self, when: int, address: int, size: int) -> None:
        """`size` bytes were taken, or given back if it is below 0, at `when` nanoseconds."""

    def missed(self, count: int) -> None:
        """So many events found no room: nobody asked in time."""


_lock = threading.RLock()
_listeners: tuple[Listener, ...] = ()


def listen(listener: Listener) -> None:
    """Tell `listener` of every block from now on, whenever somebody calls `deliver`."""
    global _listeners
    with _lock:
        deliver()
        if not _listeners:
            memory_note(True)
        _listeners = (*_listeners, listener)


def stop_listening(listener: Listener) -> None:
    """Tell it what has happened, and no more."""
    global _listeners
    with _lock:
        deliver()
        _listeners = tuple(one for one in _listeners if one is not listener)
        if not _listeners:
            memory_note(False)


def deliver() -> None:
    """Hand on what happened since the last call."""
    if not _listeners:
        return
    with _lock:
        lost, events = memory_noted()
        for listener in _listeners:
            for when, address, size in events:
                if size:
                    listener.block(when, address, size)
            if lost:
                listener.missed(lost)
