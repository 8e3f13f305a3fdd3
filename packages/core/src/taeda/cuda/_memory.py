"""Memory of devices: what tensors use, what the allocator holds, what the driver has."""

from __future__ import annotations

from typing import Any

from taeda._native import core as _core

from ._devices import is_initialized, ordinal_of

__all__ = [
    "empty_cache", "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved",
    "memory_stats", "reset_accumulated_memory_stats", "reset_peak_memory_stats",
]  # fmt: skip


def memory_stats(device: Any = None) -> dict[str, int]:
    """Counts and bytes of the allocator since the start: `"allocated_bytes.all.peak"` and so on. Empty before a device was used."""
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
    """Give segments without a block in use back to the driver, of all devices. Nothing before a device was used."""
    if is_initialized():
        for ordinal in range(_core.cuda_count()):
            if memory_reserved(ordinal):
                _core.cuda_trim(ordinal)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and total bytes of a device, as the driver counts them."""
    free, total = _core.cuda_memory(ordinal_of(device))
    return free, total
