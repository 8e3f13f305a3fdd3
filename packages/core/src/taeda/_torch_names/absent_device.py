"""What modules of devices that this build lacks share: the refusal, and the way out."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["AbsentDevice", "AbsentEvent", "AbsentStream", "AbsentStreamContext", "refuse"]


def refuse(kind: str, asked: str) -> NoReturn:
    """RuntimeError: `asked` needs a device of a kind that this build of taeda has no kernels for."""
    raise RuntimeError(
        f"taeda.{kind}.{asked} needs a {kind} device, and this build of taeda has none: ask "
        f"taeda.{kind}.is_available() "
        "before, and compute on 'cpu'"
    )


class AbsentDevice:
    """A device that would be the current one within the block; an index below 0 or None changes
    nothing, as everywhere.
    """

    kind = ""

    def __init__(self, device: Any) -> None:
        index = getattr(device, "index", device)
        self.idx = -1 if index is None else int(index)

    def __enter__(self) -> None:
        if self.idx >= 0:
            refuse(self.kind, "device")

    def __exit__(self, *exception: object) -> None: ...


class AbsentStream:
    """An order of work on a device of which there is none: RuntimeError."""

    kind = ""

    def __init__(self, device: Any = None, priority: int = 0, **options: Any) -> None:
        refuse(self.kind, "Stream")

    def query(self) -> bool:
        """Whether the work is done."""
        refuse(self.kind, "Stream")

    def synchronize(self) -> None:
        """Wait for the work."""
        refuse(self.kind, "Stream")

    def record_event(self, event: Any = None) -> Any:
        """Mark this place in the order."""
        refuse(self.kind, "Stream")

    def wait_event(self, event: Any) -> None:
        """Let later work wait for an event."""
        refuse(self.kind, "Stream")

    def wait_stream(self, stream: Any) -> None:
        """Let later work wait for another stream."""
        refuse(self.kind, "Stream")


class AbsentEvent:
    """A mark in the work of a device of which there is none: RuntimeError."""

    kind = ""

    def __init__(self, enable_timing: bool = False, **options: Any) -> None:
        refuse(self.kind, "Event")

    def record(self, stream: Any = None) -> None:
        """Mark the place that a stream has reached."""
        refuse(self.kind, "Event")

    def query(self) -> bool:
        """Whether the work before it is done."""
        refuse(self.kind, "Event")

    def synchronize(self) -> None:
        """Wait for the work before it."""
        refuse(self.kind, "Event")

    def wait(self, stream: Any = None) -> None:
        """Let later work of a stream wait for it."""
        refuse(self.kind, "Event")

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds between two."""
        refuse(self.kind, "Event")


class AbsentStreamContext:
    """Within the block a stream would be the current one; None changes nothing, and there is no stream."""

    kind = ""

    def __init__(self, stream: None) -> None:
        if stream is not None:
            refuse(self.kind, "StreamContext")

    def __enter__(self) -> None: ...

    def __exit__(self, *exception: object) -> None: ...
