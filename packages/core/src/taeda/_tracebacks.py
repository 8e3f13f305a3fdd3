"""What a program that an error ends shows: its own lines, and at most two of taeda's.

The error itself keeps its whole traceback, for debuggers and for those who catch it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

__all__ = ["install", "shown"]

#: "whole" shows every frame
VARIABLE = "TAEDA_TRACEBACK"

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]


def install() -> None:
    """Stand before what shows an error that ends the program; in IPython, one that ends a cell."""
    if os.environ.get(VARIABLE) == "whole":
        return
    if not hasattr(sys.excepthook, "_leaves_out"):
        sys.excepthook = _short(sys.excepthook)
    if (shell := _shell()) is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), _show_in_cell)


def _short(before: Hook) -> Hook:
    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _shown_by(error, lambda: before(kind, error, error.__traceback__))

    hook._leaves_out = True  # type: ignore[attr-defined]  # functions take attributes
    return hook


def _shell() -> Any:
    interactive = sys.modules.get("IPython")
    return interactive and interactive.get_ipython()


def _show_in_cell(
    shell: Any, kind: type[BaseException], error: BaseException, trace: Any, tb_offset: Any = None
) -> None:
    def show() -> None:
        shell.showtraceback((kind, error, error.__traceback__), tb_offset=tb_offset)

    _shown_by(error, show)


def _shown_by(error: BaseException, show: Callable[[], Any]) -> None:
    """Let `show` see short tracebacks of the error and of those that led to it."""
    whole = [(one, one.__traceback__) for one in _chain(error)]
    left_out = 0
    try:
        for one, trace in whole:
            one.__traceback__ = shown(trace)
            left_out += len(list(_entries(trace))) - len(list(_entries(one.__traceback__)))
        if left_out and sys.stderr is not None:
            frames = f"{left_out} frame{'s' * (left_out > 1)}"
            print(f"({frames} of taeda left out: {VARIABLE}=whole shows them)", file=sys.stderr)
        show()
    finally:
        for one, trace in whole:
            one.__traceback__ = trace


def _chain(error: BaseException) -> list[BaseException]:
    """The error, what it came from, and what a group of errors holds."""
    found: dict[int, BaseException] = {}
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in found:
            found[id(one)] = one
            waiting += [one.__cause__, one.__context__]
            waiting += one.exceptions if isinstance(one, BaseExceptionGroup) else []
    return list(found.values())


def shown(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without frames of taeda, but for the first and the last of those at its end.

    What lies between two frames of the program is left out: the program called, and was called.
    """
    entries = list(_entries(trace))
    last = next((i for i, one in enumerate(reversed(entries)) if not _is_ours(one)), len(entries))
    begins = len(entries) - last
    end = entries[begins:]
    kept = [one for one in entries[:begins] if not _is_ours(one)] + (
        end if last < 3 else [end[0], end[-1]]
    )
    made = None
    for one in reversed(kept):
        made = TracebackType(made, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return made


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_ours(entry: TracebackType) -> bool:
    names = entry.tb_frame.f_globals
    spec = names.get("__spec__")  # of `python -m taeda`, whose name is __main__
    module = str(getattr(spec, "name", None) or names.get("__name__"))
    return module == "taeda" or module.startswith("taeda.")
