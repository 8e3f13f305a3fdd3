"""Answers of modules of devices that this build lacks: there is no device, and no memory in use."""

from __future__ import annotations

from typing import Any

__all__ = [
    "device_count",
    "empty_cache",
    "is_available",
    "is_initialized",
    "manual_seed",
    "max_memory_allocated",
    "memory_allocated",
    "reset_peak_memory_stats",
]


def is_available() -> bool:
    """False.

    >>> taeda.mps.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """False: there is nothing to initialise."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: without a device there is no generator to seed. `taeda.manual_seed` seeds the CPU's."""
    int(seed)


def memory_allocated(device: Any = None) -> int:
    """0 bytes."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """0 bytes."""
    return 0


def empty_cache() -> None:
    """Nothing: no memory is held."""


def reset_peak_memory_stats(device: Any = None) -> None:
    """Nothing: every peak is 0."""
