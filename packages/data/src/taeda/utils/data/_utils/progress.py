"""How far an epoch is, on standard error: tqdm's bar if it is installed, otherwise a line."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any

__all__ = ["bar"]

_EVERY = 0.5  # seconds between two states of the line


def bar(total: int | None, initial: int, title: str) -> Any:
    """Something with `update()` and `close()`."""
    try:
        tqdm = importlib.import_module("tqdm.auto")
    except ImportError:
        return _Line(total, initial, title)
    return tqdm.tqdm(total=total, initial=initial, desc=title, unit="batch")


class _Line:
    """`title: 12/40 batches, 31.2/s, 0.9 s left`, written over itself on a terminal."""

    def __init__(self, total: int | None, initial: int, title: str) -> None:
        self._total, self._done, self._first, self._title = total, initial, initial, title
        self._start = self._shown = time.monotonic()

    def update(self) -> None:
        """One batch more."""
        self._done += 1
        now = time.monotonic()
        if now - self._shown >= _EVERY:
            self._shown = now
            self._show(now, "\r" if sys.stderr.isatty() else "\n")

    def close(self) -> None:
        """Leave the last state standing."""
        self._show(time.monotonic(), "\n")

    def _show(self, now: float, end: str) -> None:
        rate = (self._done - self._first) / max(now - self._start, 1e-9)
        of = f"/{self._total}" if self._total is not None else ""
        left = ""
        if self._total is not None and rate and self._done < self._total:
            left = f", {(self._total - self._done) / rate:.1f} s left"
        print(
            f"{self._title}: {self._done}{of} batches, {rate:.1f}/s{left}", end=end, file=sys.stderr
        )
