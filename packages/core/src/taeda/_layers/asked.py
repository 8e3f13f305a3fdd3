"""Conditions on values, in functions that refuse what does not meet them.

A program that is traced without values has none to ask. Whoever traces is told of the condition then, and
has the program ask when it runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from taeda._native import core as _core

__all__ = ["all_hold", "are_known", "left_to"]

#: told of a condition and what to say where it fails; whether it took it
Taker = Callable[[_core.Tensor, str], bool]


class _Here(threading.local):
    taker: Taker | None = None


_here = _Here()


def all_hold(condition: _core.Tensor, message: str) -> bool:
    """Whether all of a condition holds; yes where the run of a program will ask.

    Args:
        condition: bool, of any shape.
        message: what the run says if it fails.
    """
    if condition.is_meta:
        return True
    whole = condition.all()
    if _here.taker is not None and _here.taker(whole, message):
        return True
    return bool(whole)


def are_known() -> bool:
    """Whether tensors have values that a warning could be about."""
    return _here.taker is None


@contextmanager
def left_to(taker: Taker) -> Iterator[None]:
    """Conditions that this thread asks meanwhile go to `taker`."""
    before, _here.taker = _here.taker, taker
    try:
        yield
    finally:
        _here.taker = before
