"""cuSPARSELt: absent."""

from __future__ import annotations

__all__ = ["is_available", "version"]


def is_available() -> bool:
    """False.

    >>> taeda.backends.cusparselt.is_available()
    False
    """
    return False


def version() -> int | None:
    """None: there is no library that has one.

    >>> taeda.backends.cusparselt.version() is None
    True
    """
    return None
