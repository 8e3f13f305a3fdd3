"""The collector of cycles while runs are recorded: it waits, and what a run makes stays in the
youngest generation. A program that asks or sets whether it collects is told as if it did not wait.
"""

from __future__ import annotations

import gc

__all__ = ["hold", "is_enabled", "release", "set_enabled"]

_runs: dict[int, None] = {}  # the recorded runs, in whatever thread
_collects = True  # whether cycles were collected before the first of these runs


def hold(run: int) -> None:
    """Cycles wait for this run as well. It runs callbacks and finalizers of anybody at any line,
    and an observer would take them for code of the program.
    """
    global _collects
    if not _runs:
        gc.collect(0)
        enabled = gc.isenabled()
        _collects = enabled
    _runs[run] = None
    gc.disable()


def release(run: int) -> None:
    """This run is recorded no more."""
    if run in _runs:  # forgotten last, as a handler of a signal may raise before
        if len(_runs) == 1 and _collects:
            gc.enable()
        del _runs[run]


def is_enabled() -> bool:
    """gc.isenabled(), as it would be without recorded runs."""
    return _collects if _runs else gc.isenabled()


def set_enabled(on: bool) -> None:
    """gc.enable() or gc.disable(), from the end of the recorded runs on."""
    global _collects
    if _runs:
        _collects = on
    elif on:
        gc.enable()
    else:
        gc.disable()
