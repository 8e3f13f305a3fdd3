"""Metal: absent."""

from __future__ import annotations

__all__ = ["is_available", "is_built", "is_macos13_or_newer", "is_macos_or_newer"]


def is_built() -> bool:
    """False: this build has no Metal kernels.

    >>> taeda.backends.mps.is_built()
    False
    """
    return False


def is_available() -> bool:
    """False.

    >>> taeda.backends.mps.is_available(), taeda.backends.mps.is_built()
    (False, False)
    """
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """False: no version of macOS gives this build a device.

    >>> taeda.backends.mps.is_macos_or_newer(14, 0)
    False
    """
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """False, as `is_macos_or_newer`.

    >>> taeda.backends.mps.is_macos13_or_newer()
    False
    """
    return False
