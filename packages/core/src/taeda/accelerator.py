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
    """The ordinal of this thread's current device.

    >>> if taeda.accelerator.is_available():
    ...     taeda.accelerator.set_device_index(0)
    ...     assert taeda.accelerator.current_device_index() == 0
    """
    _need()
    return cuda.current_device()


def set_device_index(device: Any, /) -> None:
    """Make a device current in this thread.

    >>> if taeda.accelerator.is_available():
    ...     taeda.accelerator.set_device_index(taeda.accelerator.device_count() - 1)  # the last one
    ...     taeda.accelerator.set_device_index(0)
    """
    _need()
    cuda.set_device(device)


current_device_idx, set_device_idx = current_device_index, set_device_index


class device_index:
    """Within the block this device is the current one; None changes nothing.

    >>> with taeda.accelerator.device_index(None):  # runs on every machine
    ...     x = taeda.ones(2)
    >>> if taeda.accelerator.is_available():
    ...     with taeda.accelerator.device_index(0):
    ...         x = x.to(taeda.accelerator.current_accelerator())
    """

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
    """Wait for all work on a device.

    >>> if taeda.accelerator.is_available():
    ...     taeda.accelerator.synchronize()  # before a clock is read
    """
    _need()
    cuda.synchronize(device)


def current_stream(device: Any = None, /) -> Any:
    """The stream that this thread's work on a device goes to.

    >>> if taeda.accelerator.is_available():
    ...     taeda.accelerator.current_stream().synchronize()
    """
    _need()
    return cuda.current_stream(device)


def set_stream(stream: Any, /) -> None:
    """This thread's work on the stream's device goes there from now on. TypeError for what is no stream.

    >>> if taeda.accelerator.is_available():
    ...     before = taeda.accelerator.current_stream()
    ...     taeda.accelerator.set_stream(taeda.cuda.Stream())
    ...     taeda.accelerator.set_stream(before)
    """
    if not isinstance(stream, taeda.Stream):
        raise TypeError(f"set_stream: wanted a taeda.Stream, got {type(stream).__name__}")
    _need()
    if not isinstance(stream, cuda.Stream):
        raise RuntimeError(
            f"set_stream: wanted a stream of the accelerator, got one of {stream.device}"
        )
    cuda.set_stream(stream)


def get_device_capability(device: Any = None, /) -> dict[str, Any]:
    """The dtypes that tensors of a device can have: {"supported_dtypes": {...}}.

    >>> if taeda.accelerator.is_available():
    ...     dtypes = taeda.accelerator.get_device_capability()["supported_dtypes"]
    ...     assert taeda.float16 in dtypes
    """
    _need()
    cuda.get_device_capability(device)
    names = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32")
    more = ("float64", "complex64", "complex128")
    return {"supported_dtypes": {getattr(taeda, name) for name in (*names, *more)}}


# ---- memory ----


def empty_cache() -> None:
    """Give unused memory back to the driver.

    >>> if taeda.accelerator.is_available():
    ...     taeda.accelerator.empty_cache()
    """
    _need()
    cuda.empty_cache()


def memory_stats(device_index: Any = None, /) -> dict[str, Any]:
    """Counts and bytes of the allocator.

    >>> if taeda.accelerator.is_available():
    ...     x = taeda.ones(256, device=taeda.accelerator.current_accelerator())
    ...     assert taeda.accelerator.memory_stats()["allocated_bytes.all.current"] >= 1024
    """
    _need()
    return cuda.memory_stats(device_index)


def memory_allocated(device_index: Any = None, /) -> int:
    """Bytes that tensors use.

    >>> if taeda.accelerator.is_available():
    ...     x = taeda.ones(256, device=taeda.accelerator.current_accelerator())
    ...     assert taeda.accelerator.memory_allocated() >= 1024  # 256 numbers of 4 bytes
    """
    _need()
    return cuda.memory_allocated(device_index)


def max_memory_allocated(device_index: Any = None, /) -> int:
    """The most bytes that tensors used at once.

    >>> if taeda.accelerator.is_available():
    ...     taeda.accelerator.reset_peak_memory_stats()
    ...     _ = taeda.ones(256, device=taeda.accelerator.current_accelerator()) + 1
    ...     assert taeda.accelerator.max_memory_allocated() >= 2048  # both at once
    """
    _need()
    return cuda.max_memory_allocated(device_index)


def memory_reserved(device_index: Any = None, /) -> int:
    """Bytes that the allocator holds.

    >>> if taeda.accelerator.is_available():
    ...     held = taeda.accelerator.memory_reserved()
    ...     assert held >= taeda.accelerator.memory_allocated()
    """
    _need()
    return cuda.memory_reserved(device_index)


def max_memory_reserved(device_index: Any = None, /) -> int:
    """The most bytes that the allocator held.

    >>> if taeda.accelerator.is_available():
    ...     most = taeda.accelerator.max_memory_reserved()
    ...     assert most >= taeda.accelerator.memory_reserved()
    """
    _need()
    return cuda.max_memory_reserved(device_index)


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """Free and total bytes of a device.

    >>> if taeda.accelerator.is_available():
    ...     free, total = taeda.accelerator.get_memory_info()
    ...     assert 0 <= free <= total
    """
    _need()
    return cuda.mem_get_info(device_index)


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """Peaks start again from what is held now.

    >>> if taeda.accelerator.is_available():
    ...     taeda.accelerator.reset_peak_memory_stats()
    ...     peak = taeda.accelerator.max_memory_allocated()
    ...     assert peak == taeda.accelerator.memory_allocated()
    """
    _need()
    cuda.reset_peak_memory_stats(device_index)


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """What was allocated and freed is counted from now on.

    >>> if taeda.accelerator.is_available():
    ...     taeda.accelerator.reset_accumulated_memory_stats()
    """
    _need()
    cuda.reset_accumulated_memory_stats(device_index)
