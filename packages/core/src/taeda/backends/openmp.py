"""OpenMP: not used."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """False: the threads of the kernels are our own.

    >>> taeda.backends.openmp.is_available() in (True, False)
    True
    """
    return False
