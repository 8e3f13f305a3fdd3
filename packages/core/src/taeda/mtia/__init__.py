"""MTIA accelerators: this build has none, and says so.

Questions have answers (no device, no memory); what needs a device raises RuntimeError.
"""

from __future__ import annotations

from typing import Any

from taeda._native import core as _core
from taeda._torch_names.absent_answers import (
    device_count,
    empty_cache,
    is_available,
    is_initialized,
    manual_seed,
    max_memory_allocated,
    memory_allocated,
    reset_peak_memory_stats,
)
from taeda._torch_names.absent_device import (
    AbsentDevice,
    AbsentEvent,
    AbsentStream,
    AbsentStreamContext,
    refuse,
)

from . import memory
from .memory import memory_stats

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_rng_state",
    "init",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "max_memory_allocated",
    "memory",
    "memory_allocated",
    "memory_stats",
    "record_memory_history",
    "reset_peak_memory_stats",
    "set_device",
    "set_rng_state",
    "set_stream",
    "snapshot",
    "stream",
    "synchronize",
]

Tensor = _core.Tensor


def init() -> None:
    """RuntimeError: there is nothing to initialise.

    >>> taeda.mtia.init()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mtia.init needs a mtia device...
    """
    refuse("mtia", "init")


def current_device() -> int:
    """RuntimeError: there is none.

    >>> taeda.mtia.current_device()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mtia.current_device needs a mtia device...
    """
    refuse("mtia", "current_device")


def set_device(device: Any) -> None:
    """RuntimeError: there is none.

    >>> taeda.mtia.set_device(0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mtia.set_device needs a mtia device...
    """
    refuse("mtia", "set_device")


def synchronize(device: Any = None) -> None:
    """RuntimeError: there is nothing to wait for.

    >>> taeda.mtia.synchronize()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mtia.synchronize needs a mtia device...
    """
    refuse("mtia", "synchronize")


def get_device_capability(device: Any = None) -> Any:
    """RuntimeError: there is none.

    >>> taeda.mtia.get_device_capability()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mtia.get_device_capability needs a mtia device...
    """
    refuse("mtia", "get_device_capability")


def get_rng_state(device: Any = "mtia") -> Tensor:
    """RuntimeError: no device has a generator.

    >>> taeda.mtia.get_rng_state()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mtia.get_rng_state needs a mtia device...
    """
    refuse("mtia", "get_rng_state")


def set_rng_state(new_state: Tensor, device: Any = "mtia") -> None:
    """RuntimeError: no device has a generator.

    >>> taeda.mtia.set_rng_state(taeda.get_rng_state())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mtia.set_rng_state needs a mtia device...
    """
    refuse("mtia", "set_rng_state")


def is_bf16_supported() -> bool:
    """False: no device supports anything.

    >>> taeda.mtia.is_bf16_supported()
    False
    """
    return False


class device(AbsentDevice):
    """Within the block this device would be the current one.
    RuntimeError on entering with an index from 0 on.

    >>> with taeda.mtia.device(-1):  # of no device: nothing changes
    ...     taeda.ones(2).device
    device(type='cpu')
    """

    kind = "mtia"


# ---- streams: there are none ----


class Stream(AbsentStream):
    """RuntimeError: there is no device to work on.

    >>> taeda.mtia.Stream()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mtia.Stream needs a mtia device...
    """

    kind = "mtia"


class Event(AbsentEvent):
    """RuntimeError: there is no device whose work could be marked.

    >>> taeda.mtia.Event()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mtia.Event needs a mtia device...
    """

    kind = "mtia"


class StreamContext(AbsentStreamContext):
    """Within the block a stream would be the current one; None changes nothing, and there is no stream.

    >>> with taeda.mtia.StreamContext(None):
    ...     taeda.ones(2).sum().item()
    2.0
    """

    kind = "mtia"


def stream(stream: None) -> StreamContext:
    """`with taeda.mtia.stream(None):` changes nothing; RuntimeError for anything else.

    >>> with taeda.mtia.stream(None):
    ...     taeda.ones(2).sum().item()
    2.0
    """
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """RuntimeError: there is none.

    >>> taeda.mtia.current_stream()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mtia.current_stream needs a mtia device...
    """
    refuse("mtia", "current_stream")


def set_stream(stream: Any) -> None:
    """RuntimeError: there is no device to choose it for.

    >>> taeda.mtia.set_stream(None)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mtia.set_stream needs a mtia device...
    """
    refuse("mtia", "set_stream")


def default_stream(device: Any = None) -> Stream:
    """RuntimeError: there is none.

    >>> taeda.mtia.default_stream()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mtia.default_stream needs a mtia device...
    """
    refuse("mtia", "default_stream")


def record_memory_history(
    enabled: str | None = "all", stacks: str = "python", max_entries: int = 0
) -> None:
    """RuntimeError: there is no memory whose history could be recorded.

    >>> taeda.mtia.record_memory_history()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mtia.record_memory_history needs a mtia device...
    """
    refuse("mtia", "record_memory_history")


def snapshot() -> dict[str, Any]:
    """RuntimeError: there is no memory to tell of.

    >>> taeda.mtia.snapshot()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.mtia.snapshot needs a mtia device...
    """
    refuse("mtia", "snapshot")
