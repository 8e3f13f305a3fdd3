"""Where public functions that are written in Python ask whether a call is for somebody else.

The gate in C asks for the operations. A function of Python above it asks at its door, before it
looks at an argument, so that `__torch_function__` gets the function that was called:

    if (watched or type(input) not in exact) and is_for_others((input, target)):
        return call_others(mse_loss, (input, target))

A function that only chooses an operation and returns its result needs no such lines: `tail` makes
it known, and the gate, once it has to ask, finds it as the caller of the operation.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import Any, TypeVar

from taeda._native import core as _core

from . import FUNCTION_MODE, TRANSFORM, exact, function_modes, hidden, is_active, watched
from .dispatch import _scan, call_override, has_overrides, tails

__all__ = [
    "as_called",
    "ask_of",
    "asks",
    "call_others",
    "exact",
    "is_for_others",
    "require_tensors",
    "tail",
    "watched",
]

Function = Callable[..., Any]
_F = TypeVar("_F", bound=Function)


def is_for_others(relevant_args: Iterable[Any]) -> bool:
    """Whether a mode or the type of an argument is to be asked for a public function.

    A transform takes the operations that the function is made of, and is asked at the gate.
    """
    if is_active(FUNCTION_MODE):
        return not function_modes.entered[-1]._operations_only
    return not is_active(TRANSFORM) and has_overrides(relevant_args)


def call_others(function: Function, relevant_args: Iterable[Any]) -> Any:
    """Ask for the call of `function` whose first lines run now, with the arguments that it was given."""
    return _offer(function, sys._getframe(1), relevant_args)


def _offer(function: Function, frame: FrameType, relevant_args: Iterable[Any]) -> Any:
    args, kwargs = as_called(function, frame)
    return _ask(function, args, kwargs, relevant_args)


def _ask(
    function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], relevant_args: Iterable[Any]
) -> Any:
    if not is_active(TRANSFORM):
        return call_override(function, None, args, kwargs, relevant_args)
    with function_modes.innermost() as mode:
        result = mode.__torch_function__(function, (), args, kwargs)
    if result is not NotImplemented:
        return result
    with hidden(FUNCTION_MODE):
        return function(*args, **kwargs)


def as_called(function: Any, frame: FrameType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a frame: those without a default by position, the others by name."""
    function = inspect.unwrap(function)
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    required = code.co_argcount - len(function.__defaults__ or ())
    args = tuple(values[name] for name in names[:required])
    return args, {name: values[name] for name in names[required:]}


def tail(function: _F) -> _F:
    """A public function that does nothing with tensors but return what one operation, or another
    such function, gives: the gate asks in its name.
    """
    code: CodeType = function.__code__
    tails[code] = function
    return function


def asks(function: _F, form: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None) -> _F:
    """A function with the door before it, for one that another decorator precedes, or whose own time
    is long beside that of a call. `form` brings positional arguments of an older form into today's.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def asking(*args: Any, **kwargs: Any) -> Any:
        if not watched and exact.issuperset(map(type, args)) and not kwargs:
            return function(*args)
        if form is not None:
            args = form(args)
        relevant = tuple(_scan(args, kwargs))
        if not is_for_others(relevant):
            return function(*args, **kwargs)
        return _ask(asking, *_given(signature, args, kwargs), relevant)

    return asking  # type: ignore[return-value]  # of the same signature


def _given(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments as a door hands them on: those without a default by position, the others by name."""
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    listed: list[Any] = []
    named: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            listed += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            named |= value
        elif parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY:
            listed.append(value)
        else:
            named[name] = value
    return tuple(listed), named


def ask_of(function: Function, answer: Callable[..., Any], *inputs: Any) -> Any:
    """`answer(*inputs)`, unless the call `function(*inputs)` is for somebody else."""
    if is_for_others(inputs):
        return _ask(function, inputs, {}, inputs)
    return answer(*inputs)


def require_tensors(called: str, **given: Any) -> None:
    """TypeError unless all of these are tensors, or of types that take calls over by `__torch_function__`."""
    for name, value in given.items():
        if not isinstance(value, _core.Tensor) and not hasattr(type(value), "__torch_function__"):
            kind = type(value).__name__
            raise TypeError(f"{called}(): argument '{name}' must be Tensor, not {kind}")
