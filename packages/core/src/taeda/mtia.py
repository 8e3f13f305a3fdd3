"""MTIA accelerators: this build has none, and says so.

Questions have answers (no device, no memory); what needs a device raises RuntimeError.
"""

from __future__ import annotations

from typing import Any

from taeda._native import core as _core
from taeda._torch_names.absent_device import AbsentDevice, refuse

__all__ = [
    "current_device",
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
    "memory_allocated",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_device",
    "set_rng_state",
    "synchronize",
]

Tensor = _core.Tensor


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False: there is nothing to initialise."""
    return False


def device_count() -> int:
    """0."""
    return 0


def init() -> None:
    """RuntimeError: there is nothing to initialise."""
    refuse("mtia", "init")


def current_device() -> int:
    """RuntimeError: there is none."""
    refuse("mtia", "current_device")


def set_device(device: Any) -> None:
    """RuntimeError: there is none."""
    refuse("mtia", "set_device")


def synchronize(device: Any = None) -> None:
    """RuntimeError: there is nothing to wait for."""
    refuse("mtia", "synchronize")


def get_device_capability(device: Any = None) -> Any:
    """RuntimeError: there is none."""
    refuse("mtia", "get_device_capability")


def manual_seed(seed: int) -> None:
    """Nothing: without a device there is no generator to seed. `taeda.manual_seed` seeds the CPU's."""
    int(seed)


def get_rng_state(device: Any = "mtia") -> Tensor:
    """RuntimeError: no device has a generator."""
    refuse("mtia", "get_rng_state")


def set_rng_state(new_state: Tensor, device: Any = "mtia") -> None:
    """RuntimeError: no device has a generator."""
    refuse("mtia", "set_rng_state")


def memory_allocated(device: Any = None) -> int:
    """0 bytes."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """0 bytes."""
    return 0


def memory_stats(device: Any = None) -> dict[str, Any]:
    """An empty dict: no allocator has begun."""
    return {}


def empty_cache() -> None:
    """Nothing: no memory is held."""


def reset_peak_memory_stats(device: Any = None) -> None:
    """Nothing: every peak is 0."""


def is_bf16_supported() -> bool:
    """False: no device supports anything."""
    return False


class device(AbsentDevice):
    """Within the block this device would be the current one. RuntimeError on entering with an index from 0 on."""

    kind = "mtia"
