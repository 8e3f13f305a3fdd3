"""The CPU through the interface of accelerators, so that a program can be written for both.

Work on the CPU is done when a call returns: there is one device, one stream, and nothing to wait for.
"""

from __future__ import annotations

from pkgutil import extend_path
from types import TracebackType
from typing import Any, Self

from taeda._parts import lazy_attributes

__path__ = extend_path(__path__, __name__)  # taeda-amp brings `amp`
__getattr__, __dir__ = lazy_attributes(__name__, {})

__all__ = [
    "Event", "Stream", "StreamContext", "current_device", "current_stream", "device_count", "is_available",
    "set_device", "stream", "synchronize",
]  # fmt: skip


class Stream:
    """Stands for the order of work, of which the CPU has one.

    >>> side = taeda.cpu.Stream()
    >>> side.record_event().query()  # what a stream was given is done
    True
    """

    def __init__(self, priority: int = -1) -> None: ...

    def wait_stream(self, stream: Stream) -> None:
        """Nothing: work given to a stream is done."""

    def wait_event(self, event: Event) -> None:
        """Nothing: what an event marks is done."""

    def record_event(self, event: Event | None = None) -> Event:
        """The event, or a new one: it marks work that is done."""
        return Event() if event is None else event


class Event:
    """A mark in the order of work. All work before it is done when it is set.

    >>> done = taeda.cpu.Event()
    >>> done.record()
    >>> done.query()
    True
    """

    def record(self, stream: Stream | None = None) -> None:
        """Nothing: a call on the CPU has done its work when it returns."""

    def query(self) -> bool:
        """True: the work before it is done."""
        return True

    def wait(self, stream: Stream | None = None) -> None:
        """Nothing: there is nothing to wait for."""

    def synchronize(self) -> None:
        """The same."""


class StreamContext:
    """Within the block the stream is the one given; None changes nothing.

    >>> side = taeda.cpu.Stream()
    >>> with taeda.cpu.StreamContext(side):
    ...     taeda.cpu.current_stream() is side
    True
    """

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self._before: list[Stream] = []

    def __enter__(self) -> Self:
        self._before.append(_select(self.stream or _current))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _select(self._before.pop())


_current = Stream()


def _select(stream: Stream) -> Stream:
    """Make a stream the current one; return the one before."""
    global _current
    before, _current = _current, stream
    return before


def stream(stream: Stream | None) -> StreamContext:
    """`with taeda.cpu.stream(s):` makes `s` the current stream.

    >>> side = taeda.cpu.Stream()
    >>> with taeda.cpu.stream(side):
    ...     taeda.cpu.current_stream() is side
    True
    """
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """The stream that `stream` chose.

    >>> first = taeda.cpu.current_stream()
    >>> with taeda.cpu.stream(taeda.cpu.Stream()):
    ...     taeda.cpu.current_stream() is first
    False
    """
    return _current


def is_available() -> bool:
    """True.

    >>> taeda.cpu.is_available(), taeda.cpu.device_count(), taeda.cpu.current_device()
    (True, 1, 'cpu')
    """
    return True


def synchronize(device: Any = None) -> None:
    """Nothing: work on the CPU is done when its call returns.

    >>> taeda.cpu.synchronize()
    """


def device_count() -> int:
    """1: the processor, however many cores it has.

    >>> taeda.cpu.device_count()
    1
    """
    return 1


def current_device() -> str:
    """ "cpu".

    >>> taeda.cpu.current_device()
    'cpu'
    """
    return "cpu"


def set_device(device: Any) -> None:
    """Nothing: there is one.

    >>> taeda.cpu.set_device("cpu")
    >>> taeda.cpu.current_device()
    'cpu'
    """
