"""The accelerator of this machine: there is none that this build can use."""

from __future__ import annotations

from typing import Any

__all__ = ["current_accelerator", "device_count", "is_available"]


def is_available() -> bool:
    """False: this build of taeda computes on the CPU."""
    return False


def device_count() -> int:
    """0."""
    return 0


def current_accelerator(check_available: bool = False) -> Any:
    """None; with an accelerator it would be its device."""
    return None
