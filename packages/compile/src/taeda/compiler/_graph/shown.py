"""Operations are told to tracers, in a kernel too, which hides what it calls from those around it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from taeda._core_api.programs import TRACE, get_excluded
from taeda._core_api.runtime import set_excluded_flag

__all__ = ["shown"]


@contextmanager
def shown() -> Iterator[None]:
    """Whoever records here hears of operations; the tracers around a kernel are none of these."""
    hides = bool(get_excluded() & TRACE)
    set_excluded_flag(TRACE, False)
    try:
        yield
    finally:
        set_excluded_flag(TRACE, hides)
