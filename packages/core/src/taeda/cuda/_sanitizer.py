"""A detector of work of two streams on the same memory that nothing orders.

    worked (C, after each call)  ──▶ its reads and writes, each compared with those before it
    ordered (C, the driver's calls) ──▶ which work of which stream comes before what is queued later

Work is numbered as it is queued. What a stream, an event or the host knows is a `_Clock`: for each
stream, the number up to which its work is done before. An access is ordered after another if the clock
of its stream covers the other's number.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from bisect import bisect_left, bisect_right, insort
from collections import deque
from dataclasses import dataclass
from types import CodeType
from typing import Any

from taeda._native import core as _core

__all__ = [
    "CUDASanitizerErrors",
    "SynchronizationError",
    "UnsynchronizedAccessError",
    "enable_cuda_sanitizer",
]

_RECORD, _WAIT, _FORGET, _EVENT_DONE, _STREAM_DONE, _DEVICE_DONE, _MEMORY_DONE = range(7)
#: calls that ask a tensor for its sizes, and leave its elements alone
_ASKS_SIZES = ("_like", "new_", "resize_", "set_")
_FRAMES = 12  # of a stack in a message

_Stream = tuple[int, int]  # ordinal and address
_Clock = dict[_Stream, int]
_Stack = tuple[tuple[CodeType, int], ...]


class SynchronizationError(Exception):
    """Work on a device that lacks an order."""


@dataclass(frozen=True)
class _Place:
    """The elements of a tensor in memory: `start` to `stop` hold all of them, and every `step` bytes
    (0: once) there are `run` bytes of them at most.
    """

    start: int
    stop: int
    run: int
    step: int

    def meets(self, other: _Place) -> bool:
        """May they have a byte in common? False is certain."""
        if self.start >= other.stop or other.start >= self.stop:
            return False
        step = math.gcd(self.step, other.step)
        if not step:
            return True
        ahead = (other.start - self.start) % step
        return ahead < self.run or step - ahead < other.run

    def covers(self, other: _Place) -> bool:
        whole = self.run == self.stop - self.start
        return self == other or (whole and self.start <= other.start and other.stop <= self.stop)


def _place(first: int, itemsize: int, sizes: tuple[int, ...], strides: tuple[int, ...]) -> _Place:
    """Dimensions that follow on each other are one run; those with gaps between give the step."""
    run, step, stop = itemsize, 0, first + itemsize
    for stride, size in sorted(zip(strides, sizes, strict=True)):
        if size == 1 or stride == 0:
            continue
        stop += stride * (size - 1)
        if stride <= run and not step:
            run += stride * (size - 1)
        else:
            step = math.gcd(step, stride)
    return _Place(first, stop, run, step)


@dataclass(frozen=True)
class _Access:
    """One tensor that one call read or wrote."""

    number: int
    stream: _Stream
    writes: bool
    place: _Place
    op: str
    parameter: str
    stack: _Stack

    def lines(self) -> str:
        device, address = self.stream
        name = f"stream {address:#x}" if address else "the default stream"
        does = "writes" if self.writes else "reads"
        at = "\n".join(
            f'      File "{code.co_filename}", line {line}, in {code.co_name}'
            for code, line in reversed(self.stack)
        )
        return f"{name} of cuda:{device} {does} {self.parameter} of\n    {self.op}\n{at}"


class UnsynchronizedAccessError(SynchronizationError):
    """Two streams use the same memory, one of them writes, and nothing says which comes first."""

    def __init__(self, now: _Access, before: _Access) -> None:
        super().__init__(now, before)
        self.now, self.before = now, before

    def __str__(self) -> str:
        place = self.now.place
        return (
            f"two streams use the memory at {place.start:#x} ({place.stop - place.start} bytes), and "
            f"nothing orders them.\n  Now {self.now.lines()}\n  Before, {self.before.lines()}\n"
            "  Let the later stream wait: stream.wait_stream(other), an event, or synchronize(). "
            "If a tensor of one stream is released while another uses it: tensor.record_stream(other)"
        )


class CUDASanitizerErrors(Exception):
    """What the last call did wrong; `errors` lists it."""

    def __init__(self, errors: list[SynchronizationError]) -> None:
        super().__init__(errors)
        self.errors = errors

    def __str__(self) -> str:
        return f"the sanitizer found {len(self.errors)} of\n" + "\n".join(map(str, self.errors))


class _Memory:
    """Accesses by the storage that they lie in. A new storage takes over those to its addresses."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._of: dict[int, tuple[int, list[_Access]]] = {}

    def of(self, start: int, stop: int) -> list[_Access]:
        """The list of a storage."""
        found = self._of.get(start)
        if found is None or found[0] != stop:
            found = stop, self._claim(start, stop)
            self._put(start, *found)
        return found[1]

    def lists(self, start: int, stop: int) -> list[list[_Access]]:
        """Those of all storages that meet a range."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_left(self._starts, stop)
        return [
            self._of[s][1] for s in self._starts[first:last] if s >= start or self._of[s][0] > start
        ]

    def _put(self, start: int, stop: int, accesses: list[_Access]) -> None:
        if start not in self._of:
            insort(self._starts, start)
        self._of[start] = stop, accesses

    def _claim(self, start: int, stop: int) -> list[_Access]:
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_left(self._starts, stop)
        taken: list[_Access] = []
        for old in self._starts[first:last]:
            end, accesses = self._of[old]
            if end <= start:
                continue
            del self._starts[bisect_left(self._starts, old)], self._of[old]
            taken += [a for a in accesses if a.place.start < stop and start < a.place.stop]
            if old < start:
                self._put(old, start, [a for a in accesses if a.place.start < start])
            if end > stop:
                self._put(stop, end, [a for a in accesses if a.place.stop > stop])
        return taken


class _Watcher:
    """What is known of work, streams and events. A thread enters it, and takes in what waits: a
    tensor that is released meanwhile, by the collector, tells of its memory from within.
    """

    def __init__(self) -> None:
        self.waiting: deque[tuple[int, int, _Stream, int, int]] = deque()
        self._lock, self._owner = threading.Lock(), 0
        self.memory: dict[int, _Memory] = {}
        self.streams: dict[_Stream, _Clock] = {}
        self.events: dict[int, _Clock] = {}
        self.host: _Clock = {}

    def is_mine(self) -> bool:
        return self._owner == threading.get_ident()

    def __enter__(self) -> None:
        self._lock.acquire()
        self._owner = threading.get_ident()
        self._take_in()

    def __exit__(self, *unused: object) -> None:
        try:
            self._take_in()
        finally:
            self._owner = 0
            self._lock.release()

    def _take_in(self) -> None:
        while self.waiting:
            self.order(*self.waiting.popleft())

    # ---- what is ordered ----

    def now(self, stream: _Stream, number: int) -> _Clock:
        """What comes before a mark in the stream: what it waited for, and its own work. What the
        host knew is over.
        """
        return {**self.streams.setdefault(stream, {}), stream: number}

    def knows(self, stream: _Stream, access: _Access) -> bool:
        """Does the stream's later work come after the access?"""
        known = self.streams[stream].get(access.stream, 0)
        return stream == access.stream or access.number <= max(
            known, self.host.get(access.stream, 0)
        )

    def order(self, what: int, number: int, stream: _Stream, other: int, size: int) -> None:
        if what == _RECORD:
            self.events[other] = self.now(stream, number)
        elif what == _WAIT:
            _learn(self.streams.setdefault(stream, {}), self.events.get(other, {}))
        elif what == _FORGET:
            self.events.pop(other, None)
        elif what == _EVENT_DONE:
            _learn(self.host, self.events.get(other, {}))
        elif what == _STREAM_DONE:
            _learn(self.host, self.now(stream, number))
        elif what == _DEVICE_DONE:
            for known in [s for s in self.streams if s[0] == stream[0]]:
                _learn(self.host, self.now(known, number))
        elif what == _MEMORY_DONE:
            for accesses in self.memory.setdefault(stream[0], _Memory()).lists(other, other + size):
                accesses[:] = [a for a in accesses if not self._is_over(a, stream, other, size)]

    @staticmethod
    def _is_over(access: _Access, stream: _Stream, start: int, size: int) -> bool:
        inside = start <= access.place.start and access.place.stop <= start + size
        return inside and access.stream == stream

    # ---- work ----

    def access(self, access: _Access, storage: tuple[int, int]) -> UnsynchronizedAccessError | None:
        """Compare an access with those before it, and keep it."""
        ordinal, stream, place = access.stream[0], access.stream, access.place
        self.streams.setdefault(stream, {})
        accesses = self.memory.setdefault(ordinal, _Memory()).of(*storage)
        kept, found = [], None
        for old in accesses:
            known = old.number <= self.host.get(old.stream, 0)
            ordered = self.knows(stream, old)
            if not ordered and (access.writes or old.writes) and place.meets(old.place):
                found = found or UnsynchronizedAccessError(access, old)
            replaced = ordered and access.writes >= old.writes and place.covers(old.place)
            if not known and not replaced:
                kept.append(old)
        accesses[:] = [*kept, access]
        return found


def _learn(clock: _Clock, other: _Clock) -> None:
    for stream, number in other.items():
        if number > clock.get(stream, 0):
            clock[stream] = number


_watcher = _Watcher()


def _stack() -> _Stack:
    """Where the program is, from the inside out, without the files of this library."""
    ours = os.path.dirname(os.path.dirname(__file__)) + os.sep
    found: list[tuple[CodeType, int]] = []
    frame = sys._getframe(1)
    while frame is not None and len(found) < _FRAMES:
        if not frame.f_code.co_filename.startswith(ours):
            found.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back  # type: ignore[assignment] # the outermost has none
    return tuple(found)


def worked(number: int, op: str, accesses: list[tuple[Any, ...]]) -> None:
    """A call is done: what it read and wrote. Raises CUDASanitizerErrors, which is also printed."""
    name = op.partition("(")[0].partition(".")[0]
    if name.lstrip("_").startswith(("empty", "new_empty")):
        return
    sizes_only = any(part in name for part in _ASKS_SIZES)
    stack, errors = _stack(), []
    with _watcher:
        for parameter, writes, ordinal, stream, base, size, first, itemsize, *dims in accesses:
            if sizes_only and parameter != "the result":
                continue
            place = _place(first, itemsize, *dims)
            shown = parameter if parameter == "the result" else f"'{parameter}'"
            made = _Access(number, (ordinal, stream), writes, place, op, shown, stack)
            error = _watcher.access(made, (base, base + size))
            errors += [error] if error else []
    if errors:
        raised = CUDASanitizerErrors(list(errors))
        print(raised, file=sys.stderr)
        raise raised


def ordered(what: int, number: int, ordinal: int, stream: int, other: int, size: int) -> None:
    """The driver was told, or has told, that something comes before something."""
    _watcher.waiting.append((what, number, (ordinal, stream), other, size))
    if not _watcher.is_mine():
        with _watcher:
            pass


def enable_cuda_sanitizer() -> None:
    """From now on, a call that uses memory which another stream uses raises `CUDASanitizerErrors`, unless
    something orders the two: an event, `wait_stream`, a wait of the host. One of the two must write.

    The error names both operators, arguments and streams, and shows both places in the program. It is
    printed, too. `TAEDA_CUDA_SANITIZER=1` in the environment enables it from the start. Each call of an
    operator on a device takes some microseconds more; kernels of extensions that are no operators
    are not seen. A stream that another library made counts as one that does not wait for the default
    stream.

    >>> from taeda.cuda._sanitizer import enable_cuda_sanitizer
    >>> if taeda.cuda.is_available():
    ...     enable_cuda_sanitizer()
    """
    _core.cuda_watch(True)
