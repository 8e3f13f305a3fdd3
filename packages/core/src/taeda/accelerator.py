"""The accelerator of this machine: CUDA devices, where there are some.

Questions have answers anywhere; what needs a device raises RuntimeError where there is none, in
words that programs look for.
"""

from __future__ import annotations

from typing import Any

import taeda
from taeda import cuda

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "get_device_capability",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def _need() -> None:
    if not cuda.is_available():
        raise RuntimeError(
            "Cannot access accelerator device when none is available. Ask "
            "taeda.accelerator.is_available() before."
        )


def is_available() -> bool:
    """Is there a CUDA device?

    >>> taeda.accelerator.is_available() in (True, False)
    True
    """
    return cuda.is_available()


def device_count() -> int:
    """How many CUDA devices there are.

    >>> taeda.accelerator.device_count() >= 0
    True
    """
    return cuda.device_count()


def current_accelerator(check_available: bool = False) -> Any:
    """The type of device, `device("cuda")`; None where there is none.

    >>> device = taeda.accelerator.current_accelerator()
    >>> (device is None) == (taeda.accelerator.device_count() == 0)
    True
    """
    return taeda.device("cuda") if cuda.is_available() else None


def current_device_index() -> int:
    """The ordinal of this thread's current device."""
    _need()
    return cuda.current_device()


def set_device_index(device: Any, /) -> None:
    """Make a device current in this thread."""
    _need()
    cuda.set_device(device)


current_device_idx, set_device_idx = current_device_index, set_device_index


class device_index:
    """Within the block this device is the current one; None changes nothing."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            _need()
            self._inner = cuda.device(self.idx)
            self._inner.__enter__()

    def __exit__(self, *exception: object) -> None:
        if self.idx is not None:
            self._inner.__exit__()


def synchronize(device: Any = None, /) -> None:
    """Wait for all work on a device."""
    _need()
    cuda.synchronize(device)


def current_stream(device: Any = None, /) -> Any:
    """The stream that this thread's work on a device goes to."""
    _need()
    return cuda.current_stream(device)


def set_stream(stream: Any, /) -> None:
    """This thread's work on the stream's device goes there from now on. TypeError for what is no stream."""
    if not isinstance(stream, taeda.Stream):
        raise TypeError(f"set_stream: wanted a taeda.Stream, got {type(stream).__name__}")
    _need()
    if not isinstance(stream, cuda.Stream):
        raise RuntimeError(
            f"set_stream: wanted a stream of the accelerator, got one of {stream.device}"
        )
    cuda.set_stream(stream)


def get_device_capability(device: Any = None, /) -> dict[str, Any]:
    """The dtypes that tensors of a device can have: {"supported_dtypes": {...}}."""
    _need()
    cuda.get_device_capability(device)
    names = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32")
    more = ("float64", "complex64", "complex128")
    return {"supported_dtypes": {getattr(taeda, name) for name in (*names, *more)}}


# ---- memory ----


def empty_cache() -> None:
    """Give unused memory back to the driver."""
    _need()
    cuda.empty_cache()


def memory_stats(device_index: Any = None, /) -> dict[str, Any]:
    """Counts and bytes of the allocator."""
    _need()
    return cuda.memory_stats(device_index)


def memory_allocated(device_index: Any = None, /) -> int:
    """Bytes that tensors use."""
    _need()
    return cuda.memory_allocated(device_index)


def max_memory_allocated(device_index: Any = None, /) -> int:
    """The most bytes that tensors used at once."""
    _need()
    return cuda.max_memory_allocated(device_index)


def memory_reserved(device_index: Any = None, /) -> int:
    """Bytes that the allocator holds."""
    _need()
    return cuda.memory_reserved(device_index)


def max_memory_reserved(device_index: Any = None, /) -> int:
    """The most bytes that the allocator held."""
    _need()
    return cuda.max_memory_reserved(device_index)


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """Free and total bytes of a device."""
    _need()
    return cuda.mem_get_info(device_index)


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """Peaks start again from what is held now."""
    _need()
    cuda.reset_peak_memory_stats(device_index)


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """What was allocated and freed is counted from now on."""
    _need()
    cuda.reset_accumulated_memory_stats(device_index)
