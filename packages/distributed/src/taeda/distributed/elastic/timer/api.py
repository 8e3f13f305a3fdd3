"""Timers: a client in the process, a server in the agent."""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import currentframe, getframeinfo
from typing import Any

from .debug_info_logging import log_debug_info_for_expired_timers

__all__ = ["TimerClient", "TimerRequest", "TimerServer", "configure", "expires"]

_log = logging.getLogger(__name__)


@dataclass
class TimerRequest:
    """A worker must leave `scope_id` before `expiration_time`; a negative time releases it.

    >>> TimerRequest(4711, "forward", expiration_time=-1).scope_id  # the block was left
    'forward'
    """

    worker_id: Any
    scope_id: str
    expiration_time: float


class TimerClient(ABC):
    """The process's side.

    >>> class Told(TimerClient):
    ...     def acquire(self, scope_id, expiration_time):
    ...         print("in", scope_id)
    ...     def release(self, scope_id):
    ...         print("out of", scope_id)
    >>> with expires(after=60, scope="forward", client=Told()):
    ...     loss = 0.5
    in forward
    out of forward
    """

    @abstractmethod
    def acquire(self, scope_id: str, expiration_time: float) -> None:
        """Set a limit for `scope_id`."""

    @abstractmethod
    def release(self, scope_id: str) -> None:
        """Take it back."""


class TimerServer(ABC):
    """The agent's side: looks every `max_interval` seconds, and ends workers whose limits have passed.

    >>> import queue
    >>> from taeda.distributed.elastic.timer import LocalTimerServer
    >>> server = LocalTimerServer(queue.Queue(), max_interval=0.01)
    >>> server.start()
    >>> server.stop()
    >>> isinstance(server, TimerServer)
    True
    """

    def __init__(self, request_queue: Any, max_interval: float, daemon: bool = True) -> None:
        self._queue, self._max_interval, self._daemon = request_queue, max_interval, daemon
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @abstractmethod
    def register_timers(self, timer_requests: list[TimerRequest]) -> None:
        """Enter requests."""

    @abstractmethod
    def clear_timers(self, worker_ids: set[Any]) -> None:
        """Forget the limits of workers."""

    @abstractmethod
    def get_expired_timers(self, deadline: float) -> dict[Any, list[TimerRequest]]:
        """Limits that passed before `deadline`, by worker."""

    @abstractmethod
    def _reap_worker(self, worker_id: Any) -> bool:
        """End a worker; is it ended?"""

    @abstractmethod
    def _take(self, limit: float) -> list[TimerRequest]:
        """Requests that came, waiting for the first at most `limit` seconds."""

    def start(self) -> None:
        """Begin to look, on a thread."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="taeda-timer", daemon=self._daemon)
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(self._max_interval + 1)
            self._thread = None

    def _run(self) -> None:
        while not self._stop.is_set():
            self.register_timers(self._take(min(self._max_interval, 0.2)))
            self._end_expired()

    def _end_expired(self) -> None:
        expired = self.get_expired_timers(time.time())
        if expired:
            log_debug_info_for_expired_timers(
                "timer", {str(w): [r.scope_id for r in rs] for w, rs in expired.items()}
            )
        done = {worker for worker in expired if self._reap_worker(worker)}
        self.clear_timers(done)


_client: TimerClient | None = None


def configure(timer_client: TimerClient) -> None:
    """Let `expires` use this client, in this process.

    >>> import queue
    >>> from taeda.distributed.elastic.timer import LocalTimerClient
    >>> requests = queue.Queue()  # that of the server
    >>> configure(LocalTimerClient(requests))
    >>> with expires(after=60, scope="forward"):
    ...     loss = 0.5
    >>> requests.get().scope_id
    'forward'
    """
    global _client
    _client = timer_client


@contextmanager
def expires(
    after: float, scope: str | None = None, client: TimerClient | None = None
) -> Iterator[None]:
    """The block must be left within `after` seconds, or the process is ended.
    RuntimeError without a client.

    >>> import queue
    >>> from taeda.distributed.elastic.timer import LocalTimerClient
    >>> requests = queue.Queue()
    >>> with expires(after=60, scope="forward", client=LocalTimerClient(requests)):
    ...     loss = 0.5
    >>> requests.get().expiration_time > time.time(), requests.get().expiration_time
    (True, -1)
    """
    chosen = client or _client
    if chosen is None:
        raise RuntimeError("no timer client: call configure(client) in the process first")
    if scope is None:
        frame = currentframe()
        caller = frame.f_back.f_back if frame is not None and frame.f_back is not None else None
        scope = f"{getframeinfo(caller).filename}#{caller.f_lineno}" if caller is not None else "?"
    chosen.acquire(scope, time.time() + after)
    try:
        yield
    finally:
        chosen.release(scope)
