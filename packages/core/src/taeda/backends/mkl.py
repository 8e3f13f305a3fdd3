"""MKL: not used."""

from __future__ import annotations

__all__ = ["VERBOSE_OFF", "VERBOSE_ON", "is_available", "verbose"]

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """False: the kernels are our own.

    >>> taeda.backends.mkl.is_available()
    False
    """
    return False


class verbose:
    """Would print each call of MKL within the block: RuntimeError unless the level is VERBOSE_OFF,
    for none is made.

    >>> with taeda.backends.mkl.verbose(taeda.backends.mkl.VERBOSE_OFF):
    ...     (taeda.eye(2) @ taeda.ones(2, 1)).tolist()
    [[1.0], [1.0]]
    """

    def __init__(self, enable: int) -> None:
        self.enable = enable

    def __enter__(self) -> verbose:
        if self.enable != VERBOSE_OFF:
            raise RuntimeError("MKL is not used, so there are no calls of it to print")
        return self

    def __exit__(self, *exception: object) -> None: ...
