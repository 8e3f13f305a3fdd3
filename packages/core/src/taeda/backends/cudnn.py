"""cuDNN: absent. Its settings are kept for programs that make them.

>>> taeda.backends.cudnn.benchmark = True
>>> taeda.backends.cudnn.is_available()
False
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "allow_tf32",
    "benchmark",
    "benchmark_limit",
    "deterministic",
    "enabled",
    "flags",
    "is_available",
    "version",
]

enabled = True
benchmark = False
benchmark_limit: int | None = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """False.

    >>> taeda.backends.cudnn.is_available()
    False
    """
    return False


def version() -> int | None:
    """None: there is no library that has one.

    >>> taeda.backends.cudnn.version() is None
    True
    """
    return None


_Settings = tuple[bool, bool, int | None, bool, bool]


def _set(settings: _Settings) -> _Settings:
    """Take these settings, in the order of `flags`; return those before."""
    global enabled, benchmark, benchmark_limit, deterministic, allow_tf32
    before = enabled, benchmark, benchmark_limit, deterministic, allow_tf32
    enabled, benchmark, benchmark_limit, deterministic, allow_tf32 = settings
    return before


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int | None = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """Within the block the settings are these.

    >>> with taeda.backends.cudnn.flags(deterministic=True):
    ...     taeda.backends.cudnn.deterministic
    True
    """
    before = _set((enabled, benchmark, benchmark_limit, deterministic, allow_tf32))
    try:
        yield
    finally:
        _set(before)
