"""oneDNN: not used."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """False: the kernels are our own."""
    return False
