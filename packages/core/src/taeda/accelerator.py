"""The accelerator of this machine: CUDA devices, where there are some."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import cuda

__all__ = [
    "current_accelerator",
    "current_device_index",
    "device_count",
    "is_available",
    "set_device_index",
    "synchronize",
]


def is_available() -> bool:
    """Is there a CUDA device?"""
    return cuda.is_available()


def device_count() -> int:
    """How many CUDA devices there are."""
    return cuda.device_count()


def current_accelerator(check_available: bool = False) -> Any:
    """The type of device, as `device("cuda")`; None where there is none."""
    return taeda.device("cuda") if cuda.is_available() else None


def current_device_index() -> int:
    """The ordinal of this thread's current device."""
    return cuda.current_device()


def set_device_index(device: Any) -> None:
    """Make a device current in this thread."""
    cuda.set_device(device)


def synchronize(device: Any = None) -> None:
    """Wait for all work on a device."""
    cuda.synchronize(device)
