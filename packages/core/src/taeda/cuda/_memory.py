"""Memory of devices: what tensors use, what the allocator holds, what the driver has."""

from __future__ import annotations

import gc
import sys
from typing import Any

from taeda._native import core as _core
from taeda._warnings import warn

from ._devices import is_initialized, ordinal_of

__all__ = [
    "caching_allocator_alloc", "caching_allocator_delete", "caching_allocator_enable",
    "collect_unused", "empty_cache", "get_allocator_backend", "get_per_process_memory_fraction",
    "host_memory_stats", "max_memory_allocated", "max_memory_cached", "max_memory_reserved",
    "mem_get_info", "memory_allocated", "memory_cached", "memory_reserved",
    "memory_stats", "reset_accumulated_host_memory_stats", "reset_accumulated_memory_stats",
    "reset_max_memory_allocated", "reset_max_memory_cached",
    "reset_peak_host_memory_stats", "reset_peak_memory_stats",
    "set_allocator_settings", "set_per_process_memory_fraction",
]  # fmt: skip


def memory_stats(device: Any = None) -> dict[str, int]:
    """Counts and bytes of the allocator since the start: `"allocated_bytes.all.peak"` and so on.
    Empty before a device was used.

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     x = taeda.ones(256, device="cuda")
    ...     assert taeda.cuda.memory_stats()["allocated_bytes.all.current"] >= 1024
    """
    if not is_initialized():
        return {}
    found: dict[str, int] = _core.cuda_stats(ordinal_of(device))
    return found


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors use now, in blocks of 512.

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     x = taeda.ones(256, device="cuda")
    ...     assert taeda.cuda.memory_allocated() >= 1024  # 256 numbers of 4 bytes
    """
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors used at once since the start, or since `reset_peak_memory_stats`.

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     taeda.cuda.reset_peak_memory_stats()
    ...     _ = taeda.ones(256, device="cuda") + 1
    ...     assert taeda.cuda.max_memory_allocated() >= 2048  # both at once
    """
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: Any = None) -> int:
    """Bytes that the allocator holds, used or not.

    Args:
        device: a device or its number; None is the current one.

    >>> taeda.cuda.memory_reserved() >= taeda.cuda.memory_allocated()
    True
    """
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that the allocator held.

    Args:
        device: a device or its number; None is the current one.

    >>> taeda.cuda.max_memory_reserved() >= taeda.cuda.memory_reserved()
    True
    """
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Peaks start again from what is used and held now.

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     taeda.cuda.reset_peak_memory_stats()
    ...     assert taeda.cuda.max_memory_allocated() == taeda.cuda.memory_allocated()
    """
    _core.cuda_reset(ordinal_of(device), True)


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """What was allocated and freed, and how often memory ran out, is counted from now on.

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     taeda.cuda.reset_accumulated_memory_stats()
    """
    _core.cuda_reset(ordinal_of(device), False)


def empty_cache() -> None:
    """Give segments without a block in use back to the driver, of all devices, and unused pinned
    memory to the system.

    Nothing before a device was used.

    >>> taeda.cuda.empty_cache()  # nothing to do without a device
    """
    if is_initialized():
        _core.cuda_host_trim()
        for ordinal in range(_core.cuda_count()):
            if memory_reserved(ordinal):
                _core.cuda_trim(ordinal)


def host_memory_stats() -> dict[str, int]:
    """Counts and bytes of pinned memory: "allocation" is in use, "segment" is held; times are in
    microseconds.

    >>> stats = taeda.cuda.host_memory_stats()
    >>> stats.get("allocated_bytes.current", 0) >= 0
    True
    """
    found: dict[str, int] = _core.cuda_host_stats()
    return {name.replace(".all.", "."): value for name, value in found.items()}


def reset_peak_host_memory_stats() -> None:
    """Peaks of pinned memory start again from what is used and held now.

    >>> taeda.cuda.reset_peak_host_memory_stats()
    """
    _core.cuda_host_reset(True)


def reset_accumulated_host_memory_stats() -> None:
    """What was pinned and freed is counted from now on.

    >>> taeda.cuda.reset_accumulated_host_memory_stats()
    """
    _core.cuda_host_reset(False)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and total bytes of a device, as the driver counts them.

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     free, total = taeda.cuda.mem_get_info()
    ...     assert 0 <= free <= total
    """
    free, total = _core.cuda_memory(ordinal_of(device))
    return free, total


# ---- how much, and how ----

_fractions: dict[int, float] = {}


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """The allocator holds at most this share of a device's memory; more raises OutOfMemoryError.
    ValueError for a share outside 0 to 1.

    Args:
        fraction: 0 to 1.
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     taeda.cuda.set_per_process_memory_fraction(0.5)  # another process gets the rest
    ...     taeda.cuda.set_per_process_memory_fraction(1.0)
    """
    if isinstance(fraction, bool) or not isinstance(fraction, (int, float)):
        raise TypeError(f"Invalid type for fraction argument, must be `float`, got {fraction!r}")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    index = ordinal_of(device)
    total = mem_get_info(index)[1]
    _core.cuda_pool_limit(index, int(fraction * total) if fraction < 1 else -1)
    _fractions[index] = float(fraction)


def get_per_process_memory_fraction(device: Any = None) -> float:
    """The share that `set_per_process_memory_fraction` set; 1.0 before.

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     assert 0 < taeda.cuda.get_per_process_memory_fraction() <= 1
    """
    return _fractions.get(ordinal_of(device), 1.0)


def get_allocator_backend() -> str:
    """`"native"`, or `"cudaMallocAsync"` where the settings of the allocator ask for it.

    >>> taeda.cuda.get_allocator_backend() in ("native", "cudaMallocAsync")
    True
    """
    return str(_core.cuda_pool_backend())


def set_allocator_settings(settings: str) -> None:
    """Settings of the allocator from now on, as `TAEDA_CUDA_ALLOC_CONF` has them:
    `"key:value,key:value"`. What is not named has its default again; ValueError for what is not known.

    Args:
        settings: `key:value` pairs, joined by commas.
    """
    _core.cuda_pool_settings(settings)


def caching_allocator_enable(value: bool = True) -> None:
    """With False every allocation comes straight from the driver and goes back to it.

    Args:
        value: whether freed memory is kept (True).

    >>> taeda.cuda.caching_allocator_enable(False)  # for a tool that looks for faults
    >>> taeda.cuda.caching_allocator_enable(True)
    """
    _core.cuda_pool_uncached(not value)


_raw: dict[int, int] = {}


def caching_allocator_alloc(size: int, device: Any = None, stream: Any = None) -> int:
    """The address of `size` bytes of a device, for another library. They belong to a stream, the
    current one by default, and are given back with `caching_allocator_delete`.

    Args:
        size: bytes, not negative.
        device: a device or its number; None is the current one.
        stream: a `Stream` or its address; None is the current one of the device.

    >>> if taeda.cuda.is_available():
    ...     address = taeda.cuda.caching_allocator_alloc(1024)
    ...     taeda.cuda.caching_allocator_delete(address)
    """
    index = ordinal_of(device)
    place = _core.cuda_stream_get(index) if stream is None else stream
    address, block = _core.cuda_raw_new(index, size, getattr(place, "cuda_stream", place))
    _raw[address] = block
    return int(address)


def caching_allocator_delete(mem_ptr: int) -> None:
    """Give back what `caching_allocator_alloc` gave. ValueError for another address.

    Args:
        mem_ptr: the address.

    >>> taeda.cuda.caching_allocator_delete(64)
    Traceback (most recent call last):
    ValueError: 0x40 is no address that caching_allocator_alloc gave
    """
    block = _raw.pop(mem_ptr, None)
    if block is None:
        raise ValueError(f"{mem_ptr:#x} is no address that caching_allocator_alloc gave")
    _core.cuda_raw_free(block)


def collect_unused() -> None:
    """Give back what nobody uses: tensors in circles of references, and blocks that CuPy's own pool keeps.
    The allocator asks for it before it gives up.
    """
    gc.collect()
    cupy = sys.modules.get("cupy")
    if cupy is not None and hasattr(cupy, "get_default_memory_pool"):
        cupy.get_default_memory_pool().free_all_blocks()


# ---- older names ----


def _older(name: str, now: str) -> None:
    warn(f"taeda.cuda.{name} is the older name of {now}", FutureWarning)


def memory_cached(device: Any = None) -> int:
    """The older name of `memory_reserved`.

    Args:
        device: a device or its number; None is the current one.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     taeda.cuda.memory_cached() == taeda.cuda.memory_reserved()
    True
    """
    _older("memory_cached", "memory_reserved")
    return memory_reserved(device)


def max_memory_cached(device: Any = None) -> int:
    """The older name of `max_memory_reserved`.

    Args:
        device: a device or its number; None is the current one.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     taeda.cuda.max_memory_cached() == taeda.cuda.max_memory_reserved()
    True
    """
    _older("max_memory_cached", "max_memory_reserved")
    return max_memory_reserved(device)


def reset_max_memory_allocated(device: Any = None) -> None:
    """The older name of `reset_peak_memory_stats`.

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     taeda.cuda.reset_peak_memory_stats()  # in its place
    """
    _older("reset_max_memory_allocated", "reset_peak_memory_stats")
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Any = None) -> None:
    """The older name of `reset_peak_memory_stats`.

    Args:
        device: a device or its number; None is the current one.

    >>> if taeda.cuda.is_available():
    ...     taeda.cuda.reset_peak_memory_stats()  # in its place
    """
    _older("reset_max_memory_cached", "reset_peak_memory_stats")
    reset_peak_memory_stats(device)
