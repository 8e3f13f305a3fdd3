"""Who asked for an operation: a line of the program itself, or what the library does for one."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import sys
from typing import Any, NamedTuple

import taeda

__all__ = ["Caller", "asked", "calls_module", "place_of"]

_OWN = tuple(taeda.__path__)
#: what of Python stands between a line and the library, and is no line of the program
_BETWEEN = (contextlib.__file__, os.path.dirname(logging.__file__))
_LIBRARY = (*_OWN, *_BETWEEN)
#: what stands between a line and the operation that it asks for
_DOORS = (
    "_layers",
    "_tensor",
    "_composite",
    "_numpy",
    "functional.py",
    "nn/functional",
    "profiler",
)
_MODULES = ("_layers", "profiler", "nn/modules/module.py", "nn/modules/_hooks.py")
_ATTENTION = "nn/functional/_attention.py"  # many operations, of which a caller asked for none
_BACKWARD = "autograd/_backward.py"


class Caller(NamedTuple):
    """Where an operation comes from."""

    place: str  # the innermost line of the program, as file:line; "?" if there is none
    # by an operator, a method or a function: no layer, optimizer or helper stands between
    own: bool
    backward: bool  # within a backward pass


def place_of() -> str:
    """The innermost line of the program, as file:line."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "?"


def asked() -> Caller:
    """Who asked for what runs now."""
    frame: Any = sys._getframe(1)
    own, backward = True, False
    while frame is not None and (part := _part(frame.f_code.co_filename)) is not None:
        own = own and _is_door(part)
        backward = backward or part == _BACKWARD
        frame = frame.f_back
    if frame is None:
        return Caller("?", False, backward)
    return Caller(f"{frame.f_code.co_filename}:{frame.f_lineno}", own, backward)


def calls_module() -> str | None:
    """The line of the program that calls the module whose hook runs now; None if another module does."""
    frame: Any = sys._getframe(1)
    while frame is not None and (part := _part(frame.f_code.co_filename)) is not None:
        if part and not part.startswith(_MODULES):
            return None
        frame = frame.f_back
    return None if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


@functools.lru_cache(maxsize=4096)
def _part(file: str) -> str | None:
    """A file of the library, from its root; None for one of the program."""
    if file.startswith(_BETWEEN):
        return ""
    root = next((one for one in _OWN if file.startswith(one)), None)
    return None if root is None else file[len(root) :].replace("\\", "/").lstrip("/")


def _is_door(part: str) -> bool:
    return not part or (part.startswith(_DOORS) and part != _ATTENTION)
