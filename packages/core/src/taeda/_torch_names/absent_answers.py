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
    """False: there is nothing to initialise.

    >>> taeda.mtia.is_initialized(), taeda.xpu.is_initialized()
    (False, False)
    """
    return False


def device_count() -> int:
    """0.

    >>> taeda.mps.device_count(), taeda.mtia.device_count(), taeda.xpu.device_count()
    (0, 0, 0)
    """
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: without a device there is no generator to seed. `taeda.manual_seed` seeds the CPU's.

    >>> taeda.mps.manual_seed(7)
    >>> _ = taeda.manual_seed(7)  # the numbers of the CPU
    """
    int(seed)


def memory_allocated(device: Any = None) -> int:
    """0 bytes.

    >>> taeda.mtia.memory_allocated(), taeda.xpu.memory_allocated()
    (0, 0)
    """
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """0 bytes.

    >>> taeda.mtia.max_memory_allocated(), taeda.xpu.max_memory_allocated()
    (0, 0)
    """
    return 0


def empty_cache() -> None:
    """Nothing: no memory is held.

    >>> taeda.mps.empty_cache()
    """


def reset_peak_memory_stats(device: Any = None) -> None:
    """Nothing: every peak is 0.

    >>> taeda.xpu.reset_peak_memory_stats()
    >>> taeda.xpu.max_memory_allocated()
    0
    """
