"""How `trace` watches a call: where it is at work, and what it keeps as a constant of the graph."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from taeda.compiler._graph.capture import Capture

from ._check import TracerWarning

__all__ = ["TracingCapture", "is_tracing", "tracing"]

_here = threading.local()
#: what a program does beside the operators, and what becomes of it
_BAKED = {
    "a value is read": "the value of a tensor becomes a number of Python",
    "values are read": "the values of a tensor become numbers of Python",
    "a tensor is an argument that wants a number": "the value of a tensor becomes a number of an operator",
    "memory is shared": "the memory of a tensor is given away",
}


def is_tracing() -> bool:
    """Whether `trace` runs this, in this thread.

    >>> taeda.jit.is_tracing()
    False
    """
    return getattr(_here, "depth", 0) > 0


@contextmanager
def tracing() -> Iterator[None]:
    """What runs here is traced."""
    _here.depth = getattr(_here, "depth", 0) + 1
    try:
        yield
    finally:
        _here.depth -= 1


class TracingCapture(Capture):
    """Goes on where a value is read, and remembers the place."""

    branches: Any = None  # what a tensor chooses is baked, as all values are
    loop: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.baked: list[tuple[str, str, int]] = []
        self.line = lambda: "{}:{}".format(*_place())

    def note_untraced(self, what: str) -> None:
        """See the base class; what can be a constant of the graph becomes one."""
        if what not in _BAKED:
            super().note_untraced(what)
        elif self.active:
            self.baked.append((_BAKED[what], *_place()))

    def warn(self) -> None:
        """Tell of the constants."""
        for what, file, line in dict.fromkeys(self.baked):
            warnings.warn_explicit(
                f"jit.trace: {what} here. The graph keeps it as a constant: for other inputs its "
                "results may be wrong",
                TracerWarning,
                file,
                line,
            )


def _place() -> tuple[str, int]:
    """File and line of the innermost code outside of taeda."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "taeda")):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _is_ours(module: str) -> bool:
    return module == "taeda" or module.startswith("taeda.")
