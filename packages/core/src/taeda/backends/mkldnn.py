"""oneDNN: not used."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

__all__ = [
    "VERBOSE_OFF",
    "VERBOSE_ON",
    "VERBOSE_ON_CREATION",
    "enabled",
    "flags",
    "is_available",
    "set_flags",
    "verbose",
]

#: True changes nothing: there is no oneDNN to be used
enabled = False
_TELL = {"_deterministic": (None, False, True), "_allow_tf32": (None, False, True),
    "_fp32_precision": (None, "none", "ieee")}  # fmt: skip

VERBOSE_OFF, VERBOSE_ON, VERBOSE_ON_CREATION = 0, 1, 2


def is_available() -> bool:
    """False: the kernels are our own.

    >>> taeda.backends.mkldnn.is_available()
    False
    """
    return False


class verbose:
    """Would print each call of oneDNN within the block: RuntimeError unless the level is
    VERBOSE_OFF, for none is made.

    >>> with taeda.backends.mkldnn.verbose(taeda.backends.mkldnn.VERBOSE_OFF):
    ...     (taeda.eye(2) @ taeda.ones(2, 1)).tolist()
    [[1.0], [1.0]]
    """

    def __init__(self, level: int) -> None:
        self.level = level

    def __enter__(self) -> verbose:
        if self.level != VERBOSE_OFF:
            raise RuntimeError("oneDNN is not used, so there are no calls of it to print")
        return self

    def __exit__(self, *exception: object) -> None: ...


def set_flags(
    _enabled: bool | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str | None = None,
) -> tuple[Any, ...]:
    """Set `enabled`, and give back what was set before. RuntimeError for what only oneDNN could do:
    float32 is computed in float32 here, and every convolution gives the same bits each time.

    >>> before = taeda.backends.mkldnn.set_flags(_enabled=True)
    >>> taeda.backends.mkldnn.enabled
    True
    >>> _ = taeda.backends.mkldnn.set_flags(*before[:1])
    """
    global enabled
    given = {
        "_deterministic": _deterministic,
        "_allow_tf32": _allow_tf32,
        "_fp32_precision": _fp32_precision,
    }
    for name, value in given.items():
        if value not in _TELL[name]:
            raise RuntimeError(f"oneDNN is not used, so {name[1:]} cannot be {value!r}")
    before = enabled
    if _enabled is not None:
        enabled = bool(_enabled)
    return before, True, False, "none"


@contextlib.contextmanager
def flags(
    enabled: bool = False,
    deterministic: bool = False,
    allow_tf32: bool = False,
    fp32_precision: str = "none",
) -> Iterator[None]:
    """What `set_flags` sets, within a block.

    >>> with taeda.backends.mkldnn.flags(enabled=True):
    ...     taeda.backends.mkldnn.enabled
    True
    """
    before = set_flags(enabled, deterministic, allow_tf32, fp32_precision)
    try:
        yield
    finally:
        set_flags(before[0])
