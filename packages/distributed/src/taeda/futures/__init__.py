"""Values that will be there later, with callbacks.

>>> from taeda.futures import Future
>>> later = Future()
>>> doubled = later.then(lambda f: f.value() * 2)
>>> later.set_result(21)
>>> doubled.wait()
42
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, cast

import taeda

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")
_log = logging.getLogger(__name__)


class Future(Generic[T]):
    """A value that is set once, by `set_result` or `set_exception`.

    `devices` names the accelerators whose work a value may depend on; each needs an index. RuntimeError for a
    second completion, and for `value()` before the first.

    >>> future = taeda.futures.Future()
    >>> doubled = future.then(lambda done: done.value() * 2)
    >>> future.set_result(21)
    >>> doubled.wait()
    42
    """

    def __init__(self, *, devices: Sequence[int | str | taeda.device] | None = None) -> None:
        self._devices = [_device(device) for device in devices or ()]
        self._done, self._lock = threading.Event(), threading.Lock()
        self._value: T | None = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def done(self) -> bool:
        """Is the value, or an error, there?"""
        return self._done.is_set()

    def wait(self) -> T:
        """Wait for the value and return it, or raise the error."""
        self._done.wait()
        return self._outcome()

    def value(self) -> T:
        """The value of a future that is done, or its error raised."""
        if not self.done():
            raise RuntimeError(
                "value() of a future that is not done: call wait(), or ask done() first"
            )
        return self._outcome()

    def _outcome(self) -> T:
        if self._error is not None:
            raise self._error
        return cast("T", self._value)

    def set_result(self, result: T) -> None:
        """Complete with a value, and run the callbacks here."""
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Complete with an error. AssertionError for what is no exception."""
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result!r} is of type {type(result).__name__}, not an exception")
        self._complete(None, result)

    def _set_error(self, error: BaseException) -> None:
        self._complete(None, error)

    def _complete(self, value: T | None, error: BaseException | None) -> None:
        with self._lock:
            if self._done.is_set():
                raise RuntimeError("this future is complete already: a future completes once")
            self._value, self._error = value, error
            self._done.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)

    def _when_done(self, callback: Callable[[Future[T]], Any]) -> None:
        with self._lock:
            if not self._done.is_set():
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future of what `callback(self)` returns once this one is done; its error becomes that
        one's, as RuntimeError.
        """
        if not callable(callback):
            raise TypeError(f"then() takes a callable, not {type(callback).__name__}")
        after: Future[S] = Future()

        def run(future: Future[T]) -> None:
            try:
                result = callback(future)
            except Exception as error:  # noqa: BLE001 - it belongs to the one who waits for `after`
                wrapped = RuntimeError(f"{type(error).__name__}: {error}")
                wrapped.__cause__ = error
                after.set_exception(wrapped)
            else:
                after.set_result(result)

        self._when_done(run)
        return after

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call `callback(self)` once this future is done. An error in it is logged."""
        if not callable(callback):
            raise TypeError(f"add_done_callback() takes a callable, not {type(callback).__name__}")

        def run(future: Future[T]) -> None:
            try:
                callback(future)
            except Exception:  # noqa: BLE001 - the interface logs it; nobody waits for it
                _log.exception("a callback of a future failed")

        self._when_done(run)


def _device(device: int | str | taeda.device) -> taeda.device:
    made = taeda.device(f"cuda:{device}") if isinstance(device, int) else taeda.device(device)
    if made.type == "cpu" or made.index is None:
        raise ValueError(f"the devices of a future are accelerators with an index, not {device!r}")
    return made


def collect_all(futures: Sequence[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future of the list of `futures`, complete when all are; with the first one's error if any failed.

    >>> a, b = taeda.futures.Future(), taeda.futures.Future()
    >>> both = taeda.futures.collect_all([a, b])
    >>> a.set_result(1)
    >>> b.set_result(2)
    >>> [future.value() for future in both.wait()]
    [1, 2]
    """
    every = list(futures)
    after: Future[list[Future[Any]]] = Future()
    left = len(every)
    lock = threading.Lock()

    def one_done(_: Future[Any]) -> None:
        nonlocal left
        with lock:
            left -= 1
            last = left == 0
        if last:
            finish()

    def finish() -> None:
        error = next((future._error for future in every if future._error is not None), None)
        after.set_result(every) if error is None else after._set_error(error)

    if not every:
        after.set_result([])
    for future in every:
        future._when_done(one_done)
    return after


def wait_all(futures: Sequence[Future[Any]]) -> list[Any]:
    """The values of all `futures`, in their order; raises at the first error without waiting for the rest.

    >>> a, b = taeda.futures.Future(), taeda.futures.Future()
    >>> a.set_result(1)
    >>> b.set_result(2)
    >>> taeda.futures.wait_all([a, b])
    [1, 2]
    """
    every = list(futures)
    news = threading.Semaphore(0)
    for future in every:
        future._when_done(lambda _: news.release())
    for _ in every:
        news.acquire()
        for future in every:
            if future._error is not None:
                raise future._error
    return [future.value() for future in every]
