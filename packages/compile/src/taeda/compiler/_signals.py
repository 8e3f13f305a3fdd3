"""Handlers of signals, which Python calls at any line: what they do and raise is nothing that a
program or its graph did.
"""

from __future__ import annotations

import functools
import signal
import sys
import types
from typing import Any

__all__ = ["from_handler", "is_handler", "let_through"]


def is_handler(code: types.CodeType) -> bool:
    """Whether this is the code of a handler that is installed now."""
    return any(_code(signal.getsignal(number)) is code for number in signal.valid_signals())


def from_handler(error: BaseException) -> bool:
    """Whether the handler of a signal raised it, or something that the handler called."""
    walked = error.__traceback__
    while walked is not None:
        if is_handler(walked.tb_frame.f_code):
            return True
        walked = walked.tb_next
    return False


def let_through(error: BaseException) -> None:
    """Raise `error` again if a handler raised it: whoever catches all errors of a graph says this first.

    >>> try:
    ...     raise ValueError("of the graph")
    ... except Exception as error:
    ...     let_through(error)
    """
    watching = sys.getprofile()
    sys.setprofile(None)  # what looks for handlers is no code of a program that is watched
    try:
        found = from_handler(error)
    finally:
        sys.setprofile(watching)
    if found:
        raise error


def _code(handler: Any) -> Any:
    """The code that runs for a handler in Python: of a function, a method, a partial or an object
    with __call__.
    """
    while isinstance(handler, functools.partial):
        handler = handler.func
    if not isinstance(handler, types.FunctionType | types.MethodType):
        handler = getattr(type(handler), "__call__", None)  # noqa: B004 - it is looked up, not asked for
    return getattr(getattr(handler, "__func__", handler), "__code__", None)
