"""NNPACK: not used. Whether it may be used is kept for programs that ask for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["flags", "is_available", "set_flags"]

_enabled = True


def is_available() -> bool:
    """False: the kernels are our own.

    >>> taeda.backends.nnpack.is_available()
    False
    """
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Keep whether NNPACK may be used; return the setting before, as a tuple of one.

    >>> before = taeda.backends.nnpack.set_flags(False)
    >>> taeda.backends.nnpack.set_flags(*before)  # what it was until now
    (False,)
    """
    before = globals()["_enabled"]
    globals()["_enabled"] = bool(_enabled)
    return (before,)


@contextmanager
def flags(enabled: bool = False) -> Iterator[None]:
    """Within the block the setting is this.

    >>> with taeda.backends.nnpack.flags(enabled=False):
    ...     taeda.backends.nnpack.set_flags(False)
    (False,)
    """
    before = set_flags(enabled)
    try:
        yield
    finally:
        set_flags(*before)
