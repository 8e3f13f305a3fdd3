"""Timers for processes that the server's process started: requests come by a queue of multiprocessing."""

from __future__ import annotations

import os
import queue
import signal
from typing import Any

from .api import TimerClient, TimerRequest, TimerServer

__all__ = ["LocalTimerClient", "LocalTimerServer"]


class LocalTimerClient(TimerClient):
    """Puts requests into the queue; the worker is this process.

    >>> requests = queue.Queue()  # of multiprocessing, where processes share it
    >>> LocalTimerClient(requests).acquire("forward", 10.0)
    >>> requests.get().worker_id == os.getpid()
    True
    """

    def __init__(self, mp_queue: Any) -> None:
        self._queue = mp_queue

    def acquire(self, scope_id: str, expiration_time: float) -> None:
        self._queue.put(TimerRequest(os.getpid(), scope_id, expiration_time))

    def release(self, scope_id: str) -> None:
        self._queue.put(TimerRequest(os.getpid(), scope_id, -1))


class LocalTimerServer(TimerServer):
    """Takes requests from the queue and kills processes whose limits have passed.

    >>> server = LocalTimerServer(queue.Queue())
    >>> server.register_timers([TimerRequest(4711, "forward", expiration_time=10.0)])
    >>> server.get_expired_timers(deadline=11.0)
    {4711: [TimerRequest(worker_id=4711, scope_id='forward', expiration_time=10.0)]}
    """

    def __init__(self, mp_queue: Any, max_interval: float = 60, daemon: bool = True) -> None:
        super().__init__(mp_queue, max_interval, daemon)
        self._timers: dict[tuple[Any, str], TimerRequest] = {}

    def _take(self, limit: float) -> list[TimerRequest]:
        found: list[TimerRequest] = []
        try:
            found.append(self._queue.get(timeout=limit))
            while True:
                found.append(self._queue.get_nowait())
        except queue.Empty:
            return found

    def register_timers(self, timer_requests: list[TimerRequest]) -> None:
        for request in timer_requests:
            key = (request.worker_id, request.scope_id)
            if request.expiration_time < 0:
                self._timers.pop(key, None)
            else:
                self._timers[key] = request

    def clear_timers(self, worker_ids: set[Any]) -> None:
        self._timers = {key: r for key, r in self._timers.items() if key[0] not in worker_ids}

    def get_expired_timers(self, deadline: float) -> dict[Any, list[TimerRequest]]:
        expired: dict[Any, list[TimerRequest]] = {}
        for request in self._timers.values():
            if request.expiration_time <= deadline:
                expired.setdefault(request.worker_id, []).append(request)
        return expired

    def _reap_worker(self, worker_id: Any) -> bool:
        try:
            os.kill(worker_id, signal.SIGKILL)
        except ProcessLookupError:
            return True
        except OSError:  # not ours to kill: its limit is kept
            return False
        return True
