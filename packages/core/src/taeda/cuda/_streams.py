"""Streams, in which work is done in order, and events, which mark a place in one."""

from __future__ import annotations

from typing import Any

from taeda import _streams
from taeda._native import core as _core

from ._devices import device, ordinal_of

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_stream",
    "default_stream",
    "set_stream",
    "stream",
]


class Stream:
    """A queue of work on a device; a lower `priority` is served first. Streams are not given back to the driver."""

    def __init__(
        self, device: Any = None, priority: int = 0, *, _handle: int | None = None
    ) -> None:
        index = ordinal_of(device)
        self.device = _core.device("cuda", index)
        self.device_index = index
        self.priority = priority
        self.cuda_stream = _core.cuda_stream_new(index, priority) if _handle is None else _handle

    def synchronize(self) -> None:
        """Wait for all work of the stream."""
        _core.cuda_stream_do("synchronize", self.device_index, self.cuda_stream, 0)

    def query(self) -> bool:
        """Is all work of the stream done?"""
        return bool(_core.cuda_stream_do("query", self.device_index, self.cuda_stream, 0))

    def record_event(self, event: Event | None = None) -> Event:
        """Mark the end of the work so far; return the event."""
        made = Event() if event is None else event
        made.record(self)
        return made

    def wait_event(self, event: Event) -> None:
        """Later work of this stream waits for the event."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Later work of this stream waits for the work that `stream` has now."""
        self.wait_event(stream.record_event())

    def __enter__(self) -> Stream:
        self._within = [*getattr(self, "_within", []), StreamContext(self)]
        self._within[-1].__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._within.pop().__exit__(*exception)

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Stream) and other.cuda_stream == self.cuda_stream
        return same and other.device_index == self.device_index  # type: ignore[attr-defined] # same: it is a Stream

    def __hash__(self) -> int:
        return hash((self.cuda_stream, self.device_index))

    def __repr__(self) -> str:
        return f"<taeda.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class Event:
    """A mark in a stream. With `enable_timing` the time between two can be read; `blocking` and `interprocess` are for others' programs."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False) -> None:
        self.enable_timing = enable_timing
        self.blocking = blocking
        self.cuda_event = 0
        self._device = -1

    def record(self, stream: Stream | None = None) -> None:
        """Mark the end of the work that a stream has now, the current one by default."""
        place = current_stream() if stream is None else stream
        if self.cuda_event and self._device != place.device_index:
            raise RuntimeError(
                f"Event device cuda:{self._device} does not match recording stream's device {place.device}"
            )
        if not self.cuda_event:
            self._device = place.device_index
            self.cuda_event = _core.cuda_event_new(self._device, self.enable_timing)
        _core.cuda_event_do("record", self._device, self.cuda_event, place.cuda_stream)

    def wait(self, stream: Stream | None = None) -> None:
        """Later work of a stream, the current one by default, waits for the event."""
        place = current_stream() if stream is None else stream
        if self.cuda_event:
            _core.cuda_stream_do("wait", place.device_index, place.cuda_stream, self.cuda_event)

    def query(self) -> bool:
        """Was the mark reached? True for an event that was never recorded."""
        done = not self.cuda_event
        return done or bool(_core.cuda_event_do("query", self._device, self.cuda_event, 0))

    def synchronize(self) -> None:
        """Wait until the mark is reached."""
        if self.cuda_event:
            _core.cuda_event_do("synchronize", self._device, self.cuda_event, 0)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to another; both with `enable_timing`, recorded and reached."""
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if not (self.cuda_event and end_event.cuda_event):
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return float(_core.cuda_event_elapsed(self.cuda_event, end_event.cuda_event))

    def __del__(self) -> None:
        if getattr(self, "cuda_event", 0):
            _core.cuda_event_do("free", self._device, self.cuda_event, 0)
            self.cuda_event = 0


_streams.Stream.register(Stream)  # they are taeda.Stream and taeda.Event to isinstance
_streams.Event.register(Event)


def current_stream(device: Any = None) -> Stream:
    """The stream that this thread's work on a device goes to."""
    index = ordinal_of(device)
    return Stream(index, _handle=_core.cuda_stream_get(index))


def default_stream(device: Any = None) -> Stream:
    """The stream that every thread begins with."""
    return Stream(ordinal_of(device), _handle=0)


def set_stream(stream: Stream | None) -> None:
    """This thread's work on the stream's device goes there from now on."""
    if stream is not None:
        _core.cuda_stream_set(stream.device_index, stream.cuda_stream)


class StreamContext:
    """`with taeda.cuda.stream(s):` work goes to `s`, and its device is current. None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self._device = device(self.stream.device_index)
            self._device.__enter__()
            self._before = current_stream(self.stream.device_index)
            set_stream(self.stream)

    def __exit__(self, *error: object) -> None:
        if self.stream is not None:
            set_stream(self._before)
            self._device.__exit__()


def stream(stream: Stream | None) -> StreamContext:
    """A context in which this thread's work goes to a stream."""
    return StreamContext(stream)
