"""Environment variables. Ours begin with TAEDA_; the spelling with TORCH_ works as well."""

from __future__ import annotations

import enum
import os
from datetime import timedelta

__all__ = ["DebugLevel", "env", "get_debug_level", "set_debug_level", "set_debug_level_from_env"]

DEFAULT_TIMEOUT = timedelta(minutes=30)
STORE_TIMEOUT = timedelta(seconds=300)


class DebugLevel(enum.IntEnum):
    """How much is checked and said: OFF, INFO (names of unused parameters), DETAIL (every collective).

    >>> from taeda import distributed as dist
    >>> dist.DebugLevel["DETAIL"] > dist.DebugLevel.INFO
    True
    """

    OFF = 0
    INFO = 1
    DETAIL = 2


def env(name: str, default: str = "") -> str:
    """The variable TAEDA_`name`, else TORCH_`name`, else `default`."""
    return os.environ.get(f"TAEDA_{name}", os.environ.get(f"TORCH_{name}", default))


_level: DebugLevel | None = None


def get_debug_level() -> DebugLevel:
    """The level set by `set_debug_level`, at first that of TAEDA_DISTRIBUTED_DEBUG.

    >>> taeda.distributed.get_debug_level().name
    'OFF'
    """
    if _level is None:
        set_debug_level_from_env()
    assert _level is not None
    return _level


def set_debug_level(level: DebugLevel) -> None:
    """Use `level` from now on.

    Args:
        level: OFF, INFO or DETAIL.

    >>> from taeda import distributed as dist
    >>> before = dist.get_debug_level()
    >>> dist.set_debug_level(dist.DebugLevel.INFO)
    >>> dist.get_debug_level().name
    'INFO'
    >>> dist.set_debug_level(before)
    """
    global _level
    _level = DebugLevel(level)


def set_debug_level_from_env() -> None:
    """Use what TAEDA_DISTRIBUTED_DEBUG says. ValueError for a word that is no level.

    >>> import os
    >>> from unittest import mock
    >>> from taeda import distributed as dist
    >>> with mock.patch.dict(os.environ, TAEDA_DISTRIBUTED_DEBUG="info"):
    ...     dist.set_debug_level_from_env()
    >>> dist.get_debug_level().name
    'INFO'
    >>> dist.set_debug_level(dist.DebugLevel.OFF)
    """
    word = env("DISTRIBUTED_DEBUG", "OFF").upper()
    if word not in DebugLevel.__members__:
        wanted = ", ".join(DebugLevel.__members__)
        raise ValueError(f"TAEDA_DISTRIBUTED_DEBUG is {word!r}; it takes one of {wanted}")
    set_debug_level(DebugLevel[word])
