"""The accelerator of this machine: there is none that this build can use.

Questions have answers; what needs a device raises RuntimeError, in words that programs look for.
"""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
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
    "synchronize",
]


def _refuse() -> NoReturn:
    raise RuntimeError(
        "Cannot access accelerator device when none is available. Ask taeda.accelerator.is_available() before."
    )


def is_available() -> bool:
    """False: this build of taeda computes on the CPU."""
    return False


def device_count() -> int:
    """0."""
    return 0


def current_accelerator(check_available: bool = False) -> Any:
    """None; with an accelerator it would be its device."""
    return None


def current_device_index() -> int:
    """RuntimeError: there is none."""
    _refuse()


def set_device_index(device: Any, /) -> None:
    """RuntimeError: there is none."""
    _refuse()


current_device_idx, set_device_idx = current_device_index, set_device_index


class device_index:
    """Within the block this device would be the current one; None changes nothing, any number is a RuntimeError."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            _refuse()

    def __exit__(self, *exception: object) -> None: ...


def synchronize(device: Any = None, /) -> None:
    """RuntimeError: there is nothing to wait for."""
    _refuse()


def get_device_capability(device: Any = None, /) -> dict[str, Any]:
    """RuntimeError: there is none."""
    _refuse()


# ---- memory ----


def empty_cache() -> None:
    """RuntimeError: there is none."""
    _refuse()


def memory_stats(device_index: Any = None, /) -> dict[str, Any]:
    """RuntimeError: there is none."""
    _refuse()


def _amount(name: str) -> Any:
    def amount(device_index: Any = None, /) -> int:
        """RuntimeError: there is no device that has memory."""
        _refuse()

    amount.__name__ = amount.__qualname__ = name
    return amount


memory_allocated = _amount("memory_allocated")
max_memory_allocated = _amount("max_memory_allocated")
memory_reserved = _amount("memory_reserved")
max_memory_reserved = _amount("max_memory_reserved")
get_memory_info = _amount("get_memory_info")
reset_peak_memory_stats = _amount("reset_peak_memory_stats")
reset_accumulated_memory_stats = _amount("reset_accumulated_memory_stats")
