"""The flight recorder: the last 2,000 collectives of this rank.
`python -m taeda.distributed.trace` reads its dumps.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from taeda._core_api.files import atomic_write

from .._calls import Call
from .._settings import env

__all__ = ["calls", "dump", "install_signal", "listening", "record"]

calls: deque[Call] = deque(maxlen=2000)


class _Listeners(threading.local):
    def __init__(self) -> None:
        self.held: list[Callable[[Call], None]] = []


_listeners = _Listeners()


def record(call: Call) -> None:
    """A collective begins: keep it, and tell who listens on this thread."""
    calls.append(call)
    for listener in _listeners.held:
        listener(call)


@contextlib.contextmanager
def listening(listener: Callable[[Call], None]) -> Iterator[None]:
    """Inside, `listener` hears of each collective that this thread calls."""
    _listeners.held.append(listener)
    try:
        yield
    finally:
        _listeners.held.remove(listener)


def dump(rank: int, reason: str) -> str:
    """Write the calls of this rank into the folder TAEDA_TRACE_DIR; return the path, or '' without
    that variable.
    """
    folder = env("TRACE_DIR")
    if not folder:
        return ""
    os.makedirs(folder, exist_ok=True)
    facts = {
        "rank": rank,
        "pid": os.getpid(),
        "reason": reason,
        "calls": [call.facts() for call in list(calls)],
    }
    path = os.path.join(folder, f"rank{rank}.json")
    with atomic_write(path) as file:
        file.write(json.dumps(facts, indent=1).encode())
    return path


def install_signal(rank: int) -> None:
    """Dump on SIGUSR2 when TAEDA_TRACE_DIR is set and nobody else has that signal. Main thread only."""
    if not env("TRACE_DIR"):
        return

    def on_signal(number: int, frame: FrameType | None) -> Any:
        dump(rank, "signal")

    try:
        if signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL:
            signal.signal(signal.SIGUSR2, on_signal)
    except ValueError:  # not the main thread: without the signal a timeout still dumps
        return
