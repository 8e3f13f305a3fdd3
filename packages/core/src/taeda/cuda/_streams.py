"""Streams, in which work is done in order, and events, which mark a place in one."""

from __future__ import annotations

import threading
from typing import Any, NoReturn

from taeda import _streams
from taeda._native import core as _core

from ._devices import device, ordinal_of

__all__ = [
    "Event",
    "ExternalStream",
    "Stream",
    "StreamContext",
    "current_stream",
    "default_stream",
    "get_stream_from_external",
    "set_stream",
    "stream",
]


#: streams that were made, by device and priority: each is handed out in turn, and none is given
#: back to the driver
_made: dict[tuple[int, int], list[int]] = {}
_turn: dict[tuple[int, int], int] = {}
_lock = threading.Lock()
#: for each capture that goes on, the events of programs that its replays record or wait for
_captures: dict[int, list[Event]] = {}
MOST = 32  # of a device and a priority


def _pooled(index: int, priority: int) -> int:
    """The next stream of a device with a priority."""
    key = index, priority
    with _lock:
        made, turn = _made.setdefault(key, []), _turn.get(key, 0)
        if len(made) < MOST:
            made.append(_core.cuda_stream_new(index, priority))
        _turn[key] = (turn + 1) % MOST
        return made[turn]


class Stream:
    """A queue of work on a device; a lower `priority` is served first, down to `priority_range()[1]`.

    There are 32 for each device and priority, which are handed out in turn. RuntimeError for a
    priority above 0; what is below the range counts as its end.

    Args:
        device: a device or its number; None is the current one.
        priority: 0 or less (0); lower numbers are served first.

    >>> if taeda.cuda.is_available():
    ...     side = taeda.cuda.Stream()
    ...     side.wait_stream(taeda.cuda.current_stream())
    ...     with taeda.cuda.stream(side):
    ...         y = taeda.ones(8, device="cuda").exp()
    ...     taeda.cuda.current_stream().wait_stream(side)
    """

    def __init__(
        self, device: Any = None, priority: int = 0, *, _handle: int | None = None
    ) -> None:
        index = ordinal_of(device)
        self.device = _core.device("cuda", index)
        self.device_index = index
        if _handle is not None:
            self.priority, self.cuda_stream = priority, _handle
            return
        if priority > 0:
            raise RuntimeError(f"priorities of streams are at most 0, got {priority}")
        self.priority = max(priority, _core.cuda_priorities(index)[1])
        self.cuda_stream = _pooled(index, self.priority)

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """The least and the greatest priority; the greatest is the lower number."""
        least, greatest = _core.cuda_priorities(ordinal_of(None))
        return least, greatest

    @property
    def stream_id(self) -> int:
        """The stream's address as a number; 0 is the default stream."""
        return self.cuda_stream

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

    def __deepcopy__(self, memo: dict[int, Any]) -> Stream:
        return self  # a copy would be the same queue of the driver

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Stream cannot be pickled: it is a queue of this process; make one there")

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


class ExternalStream(Stream):
    """A stream that another library made, by its address.
    Whoever made it keeps it alive and gives it back.

    Args:
        stream_ptr: the address, a `cudaStream_t`; 0 is the default stream.
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     made = taeda.cuda.Stream()  # as another library would
    ...     assert taeda.cuda.ExternalStream(made.cuda_stream) == made
    """

    def __init__(self, stream_ptr: int, device: Any = None) -> None:
        index = ordinal_of(device)
        super().__init__(index, _core.cuda_stream_priority(index, stream_ptr), _handle=stream_ptr)


class Event:
    """A mark in a stream. With `enable_timing` the time between two can be read; with `blocking` a
    waiting thread sleeps. With `interprocess` it can go to other processes, by `ipc_handle` or
    through the queues of `taeda.multiprocessing`; such an event has no times.

    It is made when it is first recorded, on that stream's device. What is recorded while a CUDA graph is
    captured is an order within the graph, of which the host learns nothing, unless the event is `external`.

    Args:
        enable_timing: whether the time between two events can be read (False).
        blocking: whether a waiting thread sleeps (False) in place of asking again and again.
        interprocess: whether other processes can wait for it (False); not together with `enable_timing`,
            ValueError.
        external: whether each replay of a CUDA graph records it, or waits for it, where that was captured
            (False). Then programs wait for it and read times within a graph; the graph keeps the event.

    >>> taeda.cuda.Event().query()  # never recorded
    True
    >>> if taeda.cuda.is_available():
    ...     start, end = (taeda.cuda.Event(enable_timing=True) for _ in range(2))
    ...     start.record()
    ...     y = taeda.ones(8, 8, device="cuda").exp()
    ...     end.record()
    ...     end.synchronize()
    ...     milliseconds = start.elapsed_time(end)
    """

    def __init__(
        self,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
    ) -> None:
        if enable_timing and interprocess:
            raise ValueError("Event: enable_timing and interprocess exclude each other")
        self.enable_timing = enable_timing
        self.blocking = blocking
        self.interprocess = interprocess
        self.external = external
        self._within_graph = False
        self.cuda_event = 0
        self._device = -1

    @property
    def device(self) -> Any:
        """The device; None before the event is recorded."""
        return None if self._device < 0 else _core.device("cuda", self._device)

    @property
    def event_id(self) -> int:
        """The event's address as a number; 0 before it is recorded."""
        return self.cuda_event

    def record(self, stream: Stream | None = None) -> None:
        """Mark the end of the work that a stream has now, the current one by default."""
        place = current_stream() if stream is None else stream
        if self.cuda_event and self._device != place.device_index:
            raise RuntimeError(
                f"Event device cuda:{self._device} does not match recording stream's device {place.device}"
            )
        if not self.cuda_event:
            self._make(place.device_index)
        outside, captured = self._asked_for(place)
        _core.cuda_event_do("record", self._device, self.cuda_event, place.cuda_stream, outside)
        self._within_graph = captured and not outside

    def _asked_for(self, place: Stream) -> tuple[bool, bool]:
        """Do replays use this event of the program, and does the stream's work go into a graph? The second
        is asked only where it makes a difference. Captures that go on keep the event.
        """
        asked = self.external or self.enable_timing
        captured = asked and _core.cuda_stream_is_captured(place.device_index, place.cuda_stream)
        if captured and self.external:
            for kept in _captures.values():
                kept.append(self)
        return captured and self.external, captured

    def _make(self, index: int) -> None:
        flags = (1 if self.blocking else 0) | (0 if self.enable_timing else 2)
        self.cuda_event = _core.cuda_event_new(index, flags | (4 if self.interprocess else 0))
        self._device = index

    def ipc_handle(self) -> bytes:
        """What another process makes this event of. RuntimeError unless it is `interprocess`. One that
        was never recorded is made on the current device.
        """
        if not self.interprocess:
            raise RuntimeError("Event.ipc_handle: wanted an Event(interprocess=True)")
        if not self.cuda_event:
            self._make(_core.cuda_current())
        return bytes(_core.cuda_event_share(self._device, self.cuda_event))

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: bytes) -> Event:
        """The event of another process. RuntimeError for one of this process, and if the other has
        ended; ValueError for bytes that are no handle.
        """
        made = cls(interprocess=True)
        index = ordinal_of(device)
        made.cuda_event, made._device = _core.cuda_event_open(index, bytes(handle)), index
        return made

    def wait(self, stream: Stream | None = None) -> None:
        """Later work of a stream, the current one by default, waits for the event."""
        place = current_stream() if stream is None else stream
        outside = self.external and self._asked_for(place)[0]
        if outside and not self.cuda_event:  # it may be recorded before the replay
            self._make(place.device_index)
        if self.cuda_event:
            handle = self.cuda_event
            _core.cuda_stream_do("wait", place.device_index, place.cuda_stream, handle, outside)

    def query(self) -> bool:
        """Was the mark reached? True for an event that was never recorded."""
        done = not self.cuda_event
        return done or bool(_core.cuda_event_do("query", self._device, self.cuda_event, 0))

    def synchronize(self) -> None:
        """Wait until the mark is reached."""
        if self.cuda_event:
            _core.cuda_event_do("synchronize", self._device, self.cuda_event, 0)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to another; both with `enable_timing`, recorded and reached.
        RuntimeError for one that was recorded into a CUDA graph and is not `external`.
        """
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if not (self.cuda_event and end_event.cuda_event):
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if self._within_graph or end_event._within_graph:
            raise RuntimeError(
                "elapsed_time: an event was recorded while a CUDA graph was captured, where it is an order "
                "and has no time. Each replay records an Event(enable_timing=True, external=True)"
            )
        return float(_core.cuda_event_elapsed(self._device, self.cuda_event, end_event.cuda_event))

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an Event cannot be copied or pickled: queues of taeda.multiprocessing take those of "
            "Event(interprocess=True)"
        )

    def __del__(self) -> None:
        if getattr(self, "cuda_event", 0):
            _core.cuda_event_do("free", self._device, self.cuda_event, 0)
            self.cuda_event = 0


_streams.Stream.register(Stream)  # they are taeda.Stream and taeda.Event to isinstance
_streams.Event.register(Event)


def current_stream(device: Any = None) -> Stream:
    """The stream that this thread's work on a device goes to.

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     with taeda.cuda.stream(taeda.cuda.Stream()):
    ...         assert taeda.cuda.current_stream() != taeda.cuda.default_stream()
    """
    index = ordinal_of(device)
    handle = _core.cuda_stream_get(index)
    return Stream(index, _core.cuda_stream_priority(index, handle), _handle=handle)


def default_stream(device: Any = None) -> Stream:
    """The stream that every thread begins with.

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     assert taeda.cuda.default_stream().stream_id == 0
    """
    return Stream(ordinal_of(device), _handle=0)


def get_stream_from_external(data_ptr: int, device: Any = None) -> ExternalStream:
    """The stream of another library at an address. Whoever made it keeps it alive.

    Args:
        data_ptr: the address, a `cudaStream_t`.
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     made = taeda.cuda.Stream()  # as another library would
    ...     assert taeda.cuda.get_stream_from_external(made.cuda_stream) == made
    """
    return ExternalStream(data_ptr, device)


def set_stream(stream: Stream | None) -> None:
    """This thread's work on the stream's device goes there from now on.

    Args:
        stream: where work goes; None changes nothing.

    >>> taeda.cuda.set_stream(None)  # changes nothing
    >>> if taeda.cuda.is_available():
    ...     taeda.cuda.set_stream(taeda.cuda.Stream())
    ...     taeda.cuda.set_stream(taeda.cuda.default_stream())
    """
    if stream is not None:
        _core.cuda_stream_set(stream.device_index, stream.cuda_stream)


class StreamContext:
    """`with taeda.cuda.stream(s):` work goes to `s`, and its device is current. None changes nothing.

    Args:
        stream: where work goes within; None changes nothing.

    >>> with taeda.cuda.StreamContext(None):  # changes nothing
    ...     taeda.ones(2).sum().item()
    2.0
    """

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
    """A context in which this thread's work goes to a stream.

    Args:
        stream: where work goes within; None changes nothing.

    >>> with taeda.cuda.stream(None):  # changes nothing
    ...     x = taeda.ones(2)
    >>> if taeda.cuda.is_available():
    ...     with taeda.cuda.stream(taeda.cuda.Stream()):
    ...         x = x.to("cuda")
    ...     taeda.cuda.synchronize()
    """
    return StreamContext(stream)
