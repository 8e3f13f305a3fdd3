"""CUDA devices: this build has none, and says so. What is safe to call without a device does nothing, as documented."""

from __future__ import annotations

from pkgutil import extend_path
from typing import Any

from taeda._lazy import lazy_attributes
from taeda._native import core as _core

__path__ = extend_path(__path__, __name__)  # taeda-amp brings `amp`
__getattr__, __dir__ = lazy_attributes(__name__, {})

Tensor = _core.Tensor
OutOfMemoryError = _core.OutOfMemoryError
__all__ = [
    "OutOfMemoryError",
    "device_count", "empty_cache", "get_arch_list", "get_rng_state_all", "is_available", "is_bf16_supported", "is_initialized",
    "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved",
    "memory_stats", "seed", "seed_all",
]  # fmt: skip


def is_available() -> bool:
    """False: this build of taeda computes on the CPU."""
    return False


def is_initialized() -> bool:
    """False: there is nothing to initialise."""
    return False


def device_count() -> int:
    """0."""
    return 0


def get_arch_list() -> list[str]:
    """No architecture: an empty list."""
    return []


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: no device supports anything."""
    return False


# ---- generators: one a device, so none ----


def manual_seed(seed: int) -> None:
    """Nothing: without a device there is no generator to seed. `taeda.manual_seed` seeds the CPU's."""
    int(seed)


def manual_seed_all(seed: int) -> None:
    """Nothing, as `manual_seed`."""
    int(seed)


def seed() -> None:
    """Nothing, as `manual_seed`."""


def seed_all() -> None:
    """Nothing, as `manual_seed`."""


def get_rng_state_all() -> list[Tensor]:
    """The state of each device's generator: an empty list."""
    return []


# ---- memory: none is held ----


def empty_cache() -> None:
    """Nothing: no memory is held."""


def memory_stats(device: Any = None) -> dict[str, int]:
    """An empty dict: no allocator has begun."""
    return {}


def memory_allocated(device: Any = None) -> int:
    """0 bytes."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """0 bytes."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """0 bytes."""
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """0 bytes."""
    return 0
