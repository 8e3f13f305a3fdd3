"""Warnings that point at the program's line, not at one of taeda's."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn"]


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """`warnings.warn` at the innermost frame outside of taeda: so each line of a program is told
    once, and filters know it.

    If every frame is of taeda (a thread of its own), at the outermost.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module == "taeda" or module.startswith("taeda.")
