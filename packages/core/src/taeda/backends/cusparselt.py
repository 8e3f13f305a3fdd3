"""cuSPARSELt: absent."""

from __future__ import annotations

__all__ = ["is_available", "version"]


def is_available() -> bool:
    """False."""
    return False


def version() -> int | None:
    """None: there is no library that has one."""
    return None
