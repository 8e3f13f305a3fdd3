"""Timers for processes of one machine that share a named pipe."""

from __future__ import annotations

import json
import os
import select
import signal
from collections.abc import Callable
from dataclasses import dataclass

from .api import TimerClient, TimerRequest
from .local_timer import LocalTimerServer

__all__ = ["FileTimerClient", "FileTimerRequest", "FileTimerServer"]

_LINE = 480  # bytes: what a pipe takes in one piece, and less


@dataclass
class FileTimerRequest(TimerRequest):
    """A request with the signal that ends the worker.

    >>> FileTimerRequest(4711, "forward", 10.0, signal.SIGTERM).signal.name
    'SIGTERM'
    """

    signal: int = signal.SIGKILL


class FileTimerClient(TimerClient):
    """Writes requests to the pipe `file_path`; `signal` is what the server sends when the time has passed.

    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "timer")
    >>> server = FileTimerServer(path, "job-7", max_interval=0.01)
    >>> server.start()
    >>> client = FileTimerClient(path, signal.SIGTERM)
    >>> client.acquire("forward", 1e12)
    >>> client.release("forward")
    >>> server.stop()
    """

    def __init__(self, file_path: str, signal: int = signal.SIGKILL) -> None:
        self._path, self.signal = file_path, int(signal)

    def _send(self, scope_id: str, expiration_time: float) -> None:
        words = [os.getpid(), scope_id[-300:], expiration_time, self.signal]
        try:
            # half-written: a pipe takes a line in one piece
            pipe = os.open(self._path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            raise BrokenPipeError(
                f"no timer server reads {self._path!r}: {error.strerror}"
            ) from None
        try:
            os.write(pipe, json.dumps(words).encode()[:_LINE] + b"\n")
        finally:
            os.close(pipe)

    def acquire(self, scope_id: str, expiration_time: float) -> None:
        self._send(scope_id, expiration_time)

    def release(self, scope_id: str) -> None:
        self._send(scope_id, -1)


class FileTimerServer(LocalTimerServer):
    """Makes the pipe `file_path`, reads requests from it, and sends signals to processes whose
    limits have passed.

    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "timer")
    >>> server = FileTimerServer(path, "job-7")  # `start` begins to look
    >>> server.register_timers([FileTimerRequest(4711, "forward", expiration_time=10.0)])
    >>> [request.scope_id for request in server.get_expired_timers(deadline=11.0)[4711]]
    ['forward']
    >>> server.stop()
    >>> os.path.exists(path)
    False
    """

    def __init__(
        self,
        file_path: str,
        run_id: str,
        max_interval: float = 10,
        daemon: bool = True,
        log_event: Callable[[str, TimerRequest | None], None] | None = None,
    ) -> None:
        super().__init__(None, max_interval, daemon)
        self._path, self._run_id, self._log_event = file_path, run_id, log_event
        self._rest = b""
        if os.path.exists(file_path):
            os.unlink(file_path)
        os.mkfifo(file_path, 0o600)
        # Open for writing as well, so that the pipe does not end with its last client.
        # half-written: a pipe, which we only read
        self._pipe = os.open(file_path, os.O_RDWR | os.O_NONBLOCK)

    def _take(self, limit: float) -> list[TimerRequest]:
        ready, _, _ = select.select([self._pipe], [], [], limit)
        if not ready:
            return []
        *lines, self._rest = (self._rest + os.read(self._pipe, 65536)).split(b"\n")
        return [request for line in lines if (request := _parsed(line)) is not None]

    def _reap_worker(self, worker_id: int) -> bool:
        requests = [r for (worker, _), r in self._timers.items() if worker == worker_id]
        number = getattr(requests[0], "signal", signal.SIGKILL) if requests else signal.SIGKILL
        try:
            os.kill(worker_id, number)
        except ProcessLookupError:
            return True
        except OSError:  # not ours to kill
            return False
        if self._log_event is not None:
            self._log_event("kill worker process", requests[0] if requests else None)
        return True

    def stop(self) -> None:
        """End, and remove the pipe."""
        super().stop()
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
            os.unlink(self._path)


def _parsed(line: bytes) -> FileTimerRequest | None:
    """A request, or None for a line that is none."""
    try:
        worker, scope, when, number = json.loads(line)
        return FileTimerRequest(int(worker), str(scope), float(when), int(number))
    except (ValueError, TypeError):
        return None
