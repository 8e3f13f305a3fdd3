"""What an asynchronous collective returns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from taeda.futures import Future

from .._errors import DistTimeoutError
from .._stores.base import seconds_of
from .._waiting import Deadline, wait_until

__all__ = ["StreamWork", "Work"]


class Work:
    """A collective under way. `wait()` returns when its outputs are there, and raises what went wrong.

    Collectives with `async_op=True` make it.

    Args:
        what: names the collective in errors, by its text (default: "").
        result: the outputs that `result()` and the future give: a tensor, a list of them, or None
            for none (default: None).

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> work = dist.all_reduce(taeda.ones(2), async_op=True)
    >>> work.wait(), work.is_success()
    (True, True)
    >>> dist.destroy_process_group()
    """

    def __init__(self, what: object = "", result: Any = None) -> None:
        self._what, self._result = what, result
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self._abort: Callable[[], None] | None = None
        self._source = -1

    def _finish(self, error: BaseException | None = None) -> None:
        with self._lock:
            self._error = error
            self._done.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def _when_done(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if not self._done.is_set():
                self._callbacks.append(callback)
                return
        callback()

    def is_completed(self) -> bool:
        """Has it ended, well or not?"""
        return self._done.is_set()

    def is_success(self) -> bool:
        """Has it ended well? RuntimeError if it has not ended."""
        if not self.is_completed():
            raise RuntimeError(f"{self._what} is still under way: call wait() first")
        return self._error is None

    def exception(self) -> BaseException | None:
        """What went wrong, or None."""
        return self._error

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait for the end; True. Raises what went wrong, and DistTimeoutError after `timeout`,
        which ends nothing.
        """
        seconds = None if timeout is None or timeout == timedelta(0) else seconds_of(timeout)
        if not self._done.wait(seconds):
            raise DistTimeoutError(
                f"wait timeout: {self._what} was not complete after {seconds:g} s"
            )
        if self._error is not None:
            raise self._error
        return True

    def synchronize(self) -> None:
        """The same as `wait()`: on the processor there is no stream to order."""
        self.wait()

    def result(self) -> list[Any]:
        """The outputs, as a list. RuntimeError before the end."""
        if not self.is_success():
            assert self._error is not None
            raise self._error
        return _as_list(self._result)

    def source_rank(self) -> int:
        """The rank that a message came from."""
        return self._source

    def get_future(self) -> Future[list[Any]]:
        """A future of the outputs."""
        future: Future[list[Any]] = Future()

        def finish() -> None:
            if self._error is None:
                future.set_result(_as_list(self._result))
            else:
                future._set_error(self._error)

        self._when_done(finish)
        return future

    def get_future_result(self) -> Future[int]:
        """A future that says how it ended: 0 well, 1 after a timeout, 2 by another error."""
        future: Future[int] = Future()

        def finish() -> None:
            late = isinstance(self._error, DistTimeoutError)
            future.set_result(0 if self._error is None else 1 if late else 2)

        self._when_done(finish)
        return future

    def abort(self) -> None:
        """Give up: the group cannot be used afterwards."""
        if self._abort is not None:
            self._abort()

    def boxed(self) -> Work:
        """The work itself; the interface has it for scripts of another kind."""
        return self

    @staticmethod
    def unbox(work: Work) -> Work:
        """The work itself."""
        return work


class StreamWork(Work):
    """A collective that was begun on a stream of a device. `wait()` orders the current stream behind it."""

    def __init__(self, what: object, result: Any, event: Any) -> None:
        super().__init__(what, result)
        self._event = event
        self._finish()

    def is_completed(self) -> bool:
        """Has the device done it?"""
        return bool(self._event.query())

    def is_success(self) -> bool:
        """Was it begun well? What the device meets later, the group's next call raises."""
        return self._error is None

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Later work of the current stream comes after it. With a `timeout` wait here, at most that long."""
        if timeout is not None and timeout != timedelta(0):
            seconds = seconds_of(timeout)
            if not wait_until(self.is_completed, Deadline(seconds), lambda: None, True):
                raise DistTimeoutError(
                    f"wait timeout: {self._what} was not complete after {seconds:g} s"
                )
        self._event.wait()
        return True


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]
