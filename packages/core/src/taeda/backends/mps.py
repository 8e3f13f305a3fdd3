"""Metal: absent."""

from __future__ import annotations

__all__ = ["is_available", "is_built"]


def is_built() -> bool:
    """False: this build has no Metal kernels."""
    return False


def is_available() -> bool:
    """False."""
    return False
