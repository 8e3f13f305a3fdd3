"""Memory of devices: what tensors use, what the allocator holds, what the driver has."""

from __future__ import annotations

from typing import Any

from taeda._native import core as _core

from ._devices import is_initialized, ordinal_of

__all__ = [
    "empty_cache", "host_memory_stats", "max_memory_allocated", "max_memory_reserved",
    "mem_get_info", "memory_allocated", "memory_reserved",
    "memory_stats", "reset_accumulated_host_memory_stats", "reset_accumulated_memory_stats",
    "reset_peak_host_memory_stats", "reset_peak_memory_stats",
]  # fmt: skip


def memory_stats(device: Any = None) -> dict[str, int]:
    """Counts and bytes of the allocator since the start: `"allocated_bytes.all.peak"` and so on.
    Empty before a device was used.
    """
    if not is_initialized():
        return {}
    found: dict[str, int] = _core.cuda_stats(ordinal_of(device))
    return found


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors use now, in blocks of 512."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors used at once since the start, or since `reset_peak_memory_stats`."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: Any = None) -> int:
    """Bytes that the allocator holds, used or not."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that the allocator held."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Peaks start again from what is used and held now."""
    _core.cuda_reset(ordinal_of(device), True)


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """What was allocated and freed, and how often memory ran out, is counted from now on."""
    _core.cuda_reset(ordinal_of(device), False)


def empty_cache() -> None:
    """Give segments without a block in use back to the driver, of all devices, and unused pinned
    memory to the system.

    Nothing before a device was used.
    """
    if is_initialized():
        _core.cuda_host_trim()
        for ordinal in range(_core.cuda_count()):
            if memory_reserved(ordinal):
                _core.cuda_trim(ordinal)


def host_memory_stats() -> dict[str, int]:
    """Counts and bytes of pinned memory: "allocation" is in use, "segment" is held; times are in
    microseconds.
    """
    found: dict[str, int] = _core.cuda_host_stats()
    return {name.replace(".all.", "."): value for name, value in found.items()}


def reset_peak_host_memory_stats() -> None:
    """Peaks of pinned memory start again from what is used and held now."""
    _core.cuda_host_reset(True)


def reset_accumulated_host_memory_stats() -> None:
    """What was pinned and freed is counted from now on."""
    _core.cuda_host_reset(False)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and total bytes of a device, as the driver counts them."""
    free, total = _core.cuda_memory(ordinal_of(device))
    return free, total
