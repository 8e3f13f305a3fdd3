"""Functions in C that look at who calls them, in a recorded run: between two functions of the
program are frames of the observer, which are none of the program's.
"""

from __future__ import annotations

import gc
import inspect
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

from . import collector

__all__ = ["OF_CALLERS", "OF_VARIABLES", "back"]

_OURS = "taeda.compiler."


def back(frame: types.FrameType | None) -> types.FrameType | None:
    """This frame, or the next one outwards that is the program's."""
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_OURS):
        frame = frame.f_back
    return frame


def _frame(depth: int = 0) -> types.FrameType:
    found = back(sys._getframe(1))
    for _ in range(depth):
        found = found and back(found.f_back)
    if found is None:
        raise ValueError("call stack is not deep enough")
    return found


def _locals() -> dict[str, Any]:
    """The variables of the program's function, among which the observer is none."""
    frame = _frame()
    found = frame.f_locals
    if found is frame.f_globals:
        return found
    found.pop("__observer__", None)
    return found


def _vars(*of: Any) -> Any:
    return vars(*of) if of else _locals()


def _dir(*of: Any) -> list[str]:
    return dir(*of) if of else sorted(_locals())


def _eval(source: Any, globals: Any = None, locals: Any = None, /) -> Any:
    return eval(source, *_spaces(globals, locals))


def _exec(source: Any, globals: Any = None, locals: Any = None, /, *, closure: Any = None) -> None:
    exec(source, *_spaces(globals, locals), closure=closure)


def _spaces(space: Any, local: Any) -> tuple[Any, Any]:
    """Where text runs that is given none of them, or one."""
    if space is None:
        return _frame().f_globals, _locals() if local is None else local
    return space, space if local is None else local


def _warn(
    message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **more: Any
) -> None:
    """warnings.warn, which names the line of the program and keeps its notes in that module."""
    if more:  # a prefix of files to skip, which may be anybody's
        warnings.warn(message, category, stacklevel, source, **more)
        return
    try:
        frame = _frame(max(stacklevel, 1) - 1)
    except ValueError:  # further out than the program
        warnings.warn(message, category, stacklevel, source)
        return
    kind = type(message) if isinstance(message, Warning) else category or UserWarning
    space = frame.f_globals
    warnings.warn_explicit(
        message,
        kind,
        frame.f_code.co_filename,
        frame.f_lineno,
        space.get("__name__", "<string>"),  # None would be no warning at all
        space.setdefault("__warningregistry__", {}),
        space,
        source,
    )


#: functions that look at variables of their caller
OF_VARIABLES = frozenset(
    map(id, (sys._getframe, inspect.currentframe, locals, globals, vars, dir, eval, exec))
)
#: what does it in a recorded run, by the id of the function
OF_CALLERS: dict[int, Callable[..., Any]] = {
    id(sys._getframe): _frame,
    id(inspect.currentframe): _frame,
    id(locals): _locals,
    id(globals): lambda: _frame().f_globals,
    id(vars): _vars,
    id(dir): _dir,
    id(eval): _eval,
    id(exec): _exec,
    id(warnings.warn): _warn,
    id(gc.isenabled): collector.is_enabled,
    id(gc.enable): lambda: collector.set_enabled(True),
    id(gc.disable): lambda: collector.set_enabled(False),
}
