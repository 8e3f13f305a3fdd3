"""`Stream` and `Event` for a program that is written for any device.

On the processor a stream has nothing in it: work is done when its call returns. So its questions
answer yes, waiting returns at once, and an event is the time at which it was recorded.
"""

from __future__ import annotations

import abc
import time
from typing import Any, Self

from ._native import core as _core

__all__ = ["Event", "Stream"]


def _device(device: Any) -> Any:
    """The device that is meant: by default the accelerator, where there is one."""
    if isinstance(device, int):
        return _core.device("cuda", device)
    if device is None:
        from . import cuda  # late: it stands on this module

        return _core.device("cuda" if cuda.is_available() else "cpu")
    return _core.device(device)


def _elsewhere(device: Any, name: str) -> Any:
    """The class of this name for devices that have streams of their own. RuntimeError for those without."""
    from . import cuda  # late: it stands on this module

    if device.type != "cuda":
        raise RuntimeError(
            f"taeda.{name}: devices of type {device.type!r} have no streams here; 'cpu' and 'cuda' have"
        )
    return getattr(cuda, name)


class Stream(metaclass=abc.ABCMeta):
    """Work of a device that is done in order: `taeda.cuda.Stream` for a CUDA device, and one for
    the processor.

    Within `with stream:` work goes there. RuntimeError for devices without streams.

    Args:
        device: a device or its name, of the kind "cpu" or "cuda"; None (the default) for the
            accelerator, where there is one, and else the processor.
        priority: a lower one is served first; at most 0 on cuda. The processor only keeps it
            (default: 0).

    >>> stream = Stream("cpu")
    >>> stream.query()
    True
    """

    device: Any
    priority: int

    def __new__(cls, device: Any = None, *, priority: int = 0) -> Any:
        where = _device(device)
        if where.type != "cpu":
            return _elsewhere(where, "Stream")(where, priority)
        made = super().__new__(cls)
        made.device, made.priority = where, priority
        return made

    device_index, stream_id = -1, 0

    def query(self) -> bool:
        """Whether the work is done: True."""
        return True

    def synchronize(self) -> None:  # noqa: B027 - there is nothing to do
        """Wait for the work, which is done."""

    def record_event(self, event: Event | None = None) -> Event:
        """Mark this place; return the event."""
        made: Event = Event(self.device) if event is None else event
        made.record(self)
        return made

    def wait_event(self, event: Any) -> None:
        """Later work waits for the event: the calling thread does."""
        event.synchronize()

    def wait_stream(self, stream: Any) -> None:
        """Later work waits for the work that `stream` has now: the calling thread does."""
        stream.synchronize()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None: ...  # noqa: B027 - there is nothing to do

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.device == self.device

    def __hash__(self) -> int:
        return hash((self.device, self.stream_id))

    def __repr__(self) -> str:
        return (
            f"taeda.Stream device_type={self.device.type}, device_index={self.device_index}, "
            f"stream_id={self.stream_id}"
        )


class Event(metaclass=abc.ABCMeta):
    """A mark in the work of a device: `taeda.cuda.Event` for a CUDA device, a time for the processor.

    Args:
        device: a device or its name, of the kind "cpu" or "cuda"; None (the default) for the
            accelerator, where there is one, and else the processor. RuntimeError for devices
            without streams.
        enable_timing: whether `elapsed_time` between two can be read (default: False).
        blocking: whether a thread that waits for CUDA sleeps (default: False); nothing on the
            processor depends on it.
        interprocess: whether other processes can wait for it (default: False); only on CUDA,
            NotImplementedError on the processor.

    >>> begin, end = Event("cpu", enable_timing=True), Event("cpu", enable_timing=True)
    >>> begin.record()
    >>> end.record()
    >>> begin.elapsed_time(end) >= 0
    True
    """

    device: Any
    enable_timing: bool

    def __new__(
        cls,
        device: Any = None,
        *,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> Any:
        where = _device(device)
        if where.type != "cpu":
            return _elsewhere(where, "Event")(enable_timing, blocking, interprocess)
        if interprocess:
            raise NotImplementedError(
                "taeda.Event: interprocess=True is for events of CUDA devices"
            )
        made = super().__new__(cls)
        made.device, made.enable_timing = where, enable_timing
        made._at = None
        return made

    event_id = 0
    _at: int | None

    def record(self, stream: Any = None) -> None:
        """Mark the work up to here. RuntimeError for a stream of another device."""
        if stream is not None and stream.device != self.device:
            raise RuntimeError(
                f"Event device {self.device} does not match recording stream's device {stream.device}"
            )
        self._at = time.perf_counter_ns()

    def wait(self, stream: Any = None) -> None:  # noqa: B027 - there is nothing to do
        """Later work waits for the mark, which is reached."""

    def query(self) -> bool:
        """Whether the mark is reached: True."""
        return True

    def synchronize(self) -> None:  # noqa: B027 - there is nothing to do
        """Wait for the mark, which is reached."""

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to another; ValueError unless both have `enable_timing` and
        were recorded.
        """
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._at is None or end_event._at is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._at - self._at) / 1e6

    def __repr__(self) -> str:
        return (
            f"taeda.Event device_type={self.device.type}, device_index=-1, "
            f"event_flag={int(self.enable_timing)}, event_id=0"
        )
