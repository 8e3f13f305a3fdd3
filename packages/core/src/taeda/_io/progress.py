"""How far a long read or write is: a line on the terminal, or a function of the caller's."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Advance", "Wish", "progress"]

Wish: TypeAlias = "bool | Callable[[int, int], object]"
Advance = Callable[[int], None]

_PAUSE = 0.1  # seconds between two lines


def progress(wish: Wish, label: str, total: int) -> Advance:
    """A function to be told of every few bytes done.

    `wish` is False for silence, True for a line on stderr, or a function of (bytes done, bytes in all).
    """
    if wish is False:
        return lambda count: None
    report = _Line(label) if wish is True else wish
    if not callable(report):
        raise TypeError(f"progress is a bool or a function of (done, total), got {wish!r}")
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done = min(done + count, total)  # headers are not counted
        report(done, total)

    return advance


class _Line:
    """Writes `label 42 % of 1.50 GB, 812 MB/s`, over and over on one line, and an end of line when
    all is done.
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self.begun, self.shown = time.monotonic(), -_PAUSE

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.shown < _PAUSE and done < total:
            return
        self.shown = now
        speed = done / max(now - self.begun, 1e-9)
        percent = 100 * done // total if total else 100
        end = "\n" if done >= total else ""
        text = f"\r{self.label} {percent:3d} % of {_size(total)}, {_size(speed)}/s   {end}"
        sys.stderr.write(text)
        sys.stderr.flush()


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"
