"""Intel GPUs: this build has none, and says so."""

from __future__ import annotations

__all__ = ["device_count", "is_available", "is_initialized"]


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False: there is nothing to initialise."""
    return False


def device_count() -> int:
    """0."""
    return 0
