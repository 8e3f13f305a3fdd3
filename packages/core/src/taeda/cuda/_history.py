"""Where memory of devices is allocated: stacks, as numbers that the allocator keeps."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from typing import Any

from taeda._native import core as _core

__all__ = ["frames", "here", "line", "record"]

#: flags of csrc/cuda/pool_history.h
_STEPS, _STACKS, _STEP_STACKS, _FREE_STACKS = 1, 2, 4, 8
_CONTEXTS = {
    None: 0,
    "state": _STACKS,
    "alloc": _STACKS | _STEP_STACKS,
    "all": _STACKS | _STEP_STACKS | _FREE_STACKS,
}

#: a stack is the operator and (code, line) from the inside out
_Stack = tuple[Any, ...]
_numbers: dict[_Stack, int] = {}
_stacks: dict[int, _Stack] = {}
_next = 0
_lock = threading.Lock()


def here(running: str | None) -> int:
    """The number of the stack of this thread, in which the operator `running` allocates."""
    global _next
    stack: list[Any] = [running]
    frame = sys._getframe(1) if sys._getframe().f_back else None
    while frame is not None:
        stack.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    key = tuple(stack)
    with _lock:
        number = _numbers.get(key)
        if number is None:
            number, _next = _next, _next + 1
            _numbers[key], _stacks[number] = number, key
    return number


def frames(number: int) -> list[dict[str, Any]]:
    """A stack as viewers read it, from the inside out: file, line and name. The operator comes first."""
    stack = _stacks.get(number)
    if stack is None:
        return []
    running, *rest = stack
    made = [{"filename": "taeda", "line": 0, "name": running}] if running else []
    made += [{"filename": c.co_filename, "line": at, "name": c.co_name} for c, at in rest]
    return made


def line(number: int) -> str:
    """The operator and the user's line of a stack, for the message when memory runs out."""
    stack = _stacks.get(number)
    if stack is None:
        return "of an unknown place"
    running, *rest = stack
    by = f"by {running}" if running else "by no operator"
    ours = tuple(os.path.join(part, "") for part in sys.modules["taeda"].__path__)
    for code, at in rest:
        if not code.co_filename.startswith(ours):
            text = linecache.getline(code.co_filename, at).strip()
            return f"{by}, {code.co_filename[-60:]}:{at}{f': {text[:60]}' if text else ''}"
    return by


def record(enabled: str | None, context: str | None, max_entries: int) -> None:
    """What is kept from now on; see `taeda.cuda.memory._record_memory_history`."""
    if enabled not in (None, "state", "all"):
        raise ValueError(f"enabled is None, 'state' or 'all', got {enabled!r}")
    if context not in _CONTEXTS:
        raise ValueError(f"context is None, 'state', 'alloc' or 'all', got {context!r}")
    if max_entries < 1:
        raise ValueError(f"max_entries is at least 1, got {max_entries}")
    flags = 0 if enabled is None else _CONTEXTS[context]
    if enabled == "all":
        flags |= _STEPS
    else:
        flags &= _STACKS
    _core.cuda_pool_record(min(max_entries, 2**40) if flags & _STEPS else 0, flags)
    if not flags:
        with _lock:
            _numbers.clear()
            _stacks.clear()
