"""oneDNN: not used."""

from __future__ import annotations

__all__ = ["VERBOSE_OFF", "VERBOSE_ON", "VERBOSE_ON_CREATION", "is_available", "verbose"]

VERBOSE_OFF, VERBOSE_ON, VERBOSE_ON_CREATION = 0, 1, 2


def is_available() -> bool:
    """False: the kernels are our own."""
    return False


class verbose:
    """Would print each call of oneDNN within the block: RuntimeError unless the level is
    VERBOSE_OFF, for none is made.
    """

    def __init__(self, level: int) -> None:
        self.level = level

    def __enter__(self) -> verbose:
        if self.level != VERBOSE_OFF:
            raise RuntimeError("oneDNN is not used, so there are no calls of it to print")
        return self

    def __exit__(self, *exception: object) -> None: ...
