"""Callbacks around operations, for programs that measure always: a sample of all calls."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

from taeda._core_api.programs import tracers

from ._texts import operation

__all__ = [
    "OperatorCall",
    "add_operator_callback",
    "enable_operator_callbacks",
    "remove_operator_callback",
]


class OperatorCall:
    """One call of an operation: `name`, `inputs` if they were asked for, `result` once there is one,
    and `state`, which is the callback's own between beginning and end.

    Args:
        name: of the operation, as "aten::exp".
        inputs: its arguments, or None where nobody asked for them.

    >>> seen = []
    >>> handle = add_operator_callback(
    ...     on_exit=lambda call: seen.append((call.name, call.result.shape))
    ... )
    >>> _ = taeda.ones(2).exp()
    >>> remove_operator_callback(handle)
    >>> seen
    [('aten::ones', taeda.Size([2])), ('aten::exp', taeda.Size([2]))]
    """

    __slots__ = ("inputs", "name", "result", "state")

    def __init__(self, name: str, inputs: tuple[Any, ...] | None) -> None:
        self.name, self.inputs = name, inputs
        self.result: Any = None
        self.state: Any = None


Told = Callable[[OperatorCall], None]


class _Callback:
    def __init__(
        self, enter: Told | None, leave: Told | None, sampling: float, inputs: bool
    ) -> None:
        self.enter, self.leave, self.sampling, self.inputs = enter, leave, sampling, inputs
        self.random = random.Random(0)  # its own: samples change no random numbers of the program


_lock = threading.Lock()
_callbacks: tuple[_Callback, ...] = ()
_here = threading.local()  # .watcher: that of this thread


def add_operator_callback(
    on_enter: Told | None = None,
    on_exit: Told | None = None,
    *,
    sampling: float = 1.0,
    needs_inputs: bool = False,
) -> int:
    """Call `on_enter` before and `on_exit` after operations, in this thread and in those that call
    `enable_operator_callbacks`; of all calls the share `sampling`, chosen at random from a fixed
    seed. Returns a handle for `remove_operator_callback`.

    Args:
        on_enter: called with an OperatorCall before the operation runs; None for nothing.
        on_exit: called with the same OperatorCall after it; None for nothing.
        sampling: the share of calls that are told, above 0 and up to 1, which is the default.
        needs_inputs: whether the OperatorCall holds the arguments; False by default.

    What a callback raises passes to the program. TypeError for what cannot be called, ValueError for
    a share that is not above 0 and up to 1, or for no callback at all.

    >>> names = []
    >>> handle = add_operator_callback(lambda call: names.append(call.name))
    >>> _ = taeda.ones(2).exp()
    >>> remove_operator_callback(handle)
    >>> names
    ['aten::ones', 'aten::exp']
    """
    global _callbacks
    for told in (on_enter, on_exit):
        if told is not None and not callable(told):
            raise TypeError(f"add_operator_callback takes functions, not {type(told).__name__}")
    if on_enter is None and on_exit is None:
        raise ValueError("add_operator_callback: give on_enter, on_exit or both")
    if not 0 < sampling <= 1:
        raise ValueError(f"add_operator_callback: sampling is {sampling}, and has to be in (0, 1]")
    made = _Callback(on_enter, on_exit, sampling, needs_inputs)
    with _lock:
        _callbacks = (*_callbacks, made)
    enable_operator_callbacks()
    return id(made)


def remove_operator_callback(handle: int) -> None:
    """Call it no more, in any thread. KeyError for a handle that is not known any more.

    Args:
        handle: what `add_operator_callback` returned.

    >>> names = []
    >>> handle = add_operator_callback(lambda call: names.append(call.name))
    >>> remove_operator_callback(handle)
    >>> _ = taeda.ones(2).exp()
    >>> names
    []
    """
    global _callbacks
    with _lock:
        left = tuple(one for one in _callbacks if id(one) != handle)
        if len(left) == len(_callbacks):
            raise KeyError(f"remove_operator_callback: no callback has the handle {handle}")
        _callbacks = left
    if not left:
        enable_operator_callbacks(False)


def enable_operator_callbacks(on: bool = True) -> None:
    """Call the callbacks for operations of this thread too, or no more.

    Args:
        on: whether they are called; True by default.

    >>> names = []
    >>> handle = add_operator_callback(lambda call: names.append(call.name))
    >>> enable_operator_callbacks(False)  # not those of this thread
    >>> _ = taeda.ones(2).exp()
    >>> enable_operator_callbacks()
    >>> _ = taeda.ones(2)
    >>> remove_operator_callback(handle)
    >>> names
    ['aten::ones']
    """
    watcher = getattr(_here, "watcher", None)
    if on and watcher is None:
        _here.watcher = _Watcher()
        tracers.push(_here.watcher)
    elif not on and watcher is not None:
        _here.watcher = None
        tracers.remove(watcher)


class _Watcher:
    """The tracer of a thread."""

    def call(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        chosen = [
            one for one in _callbacks if one.sampling == 1 or one.random.random() < one.sampling
        ]
        if not chosen:
            return run()
        name = operation(op)
        calls = [(one, OperatorCall(name, args if one.inputs else None)) for one in chosen]
        for one, call in calls:
            if one.enter is not None:
                one.enter(call)
        made = run()
        for one, call in reversed(calls):
            call.result = made
            if one.leave is not None:
                one.leave(call)
        return made
