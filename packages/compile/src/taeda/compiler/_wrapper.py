"""The function that stands in for a compiled one.

While its gate is empty, calls go to the state behind it; else at once to the function itself, which
is all that a small function that stays eager can bear. So it has the parameters of the function: to
take and to pass on any arguments costs as much as five small operations.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from ._compiled import Compiled

__all__ = ["wrapper"]

_WAY = "_compiled_function", "_compiled_state", "_compiled_gate"
_TEXT = """
def made({names[0]}, {names[1]}, {names[2]}):
    def call({parameters}):
        if {names[2]}:
            return {names[0]}({given})
        return {names[1]}(({given}), {{}})
    return call
"""


def wrapper(function: Callable[..., Any], state: Compiled) -> Callable[..., Any]:
    """`function`, whose calls go through `state` as long as that wants them."""
    function = getattr(function, "__taeda_original__", function)
    state.function = function
    call = _of_its_parameters(function, state) or _of_any(function, state)
    functools.update_wrapper(call, function)
    made: Any = call
    made.__taeda_original__ = function  # what `disable` gives back
    made.__taeda_compiled__ = state  # what `explain` looks at
    return call


def _of_any(function: Callable[..., Any], state: Compiled) -> Callable[..., Any]:
    gate = state.gate

    def call(*args: Any, **kwargs: Any) -> Any:
        if gate:
            return function(*args, **kwargs)
        return state(args, kwargs)

    return call


def _of_its_parameters(function: Any, state: Compiled) -> Callable[..., Any] | None:
    """The same where every call gives every parameter, by position or by name."""
    if type(function) is not types.FunctionType:
        return None
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    packed = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    optional = function.__defaults__ or code.co_kwonlyargcount or code.co_posonlyargcount
    if packed or optional or not all(map(str.isidentifier, names)) or set(names) & set(_WAY):
        return None
    given = "".join(f"{name}, " for name in names)
    text = _TEXT.format(names=_WAY, parameters=", ".join(names), given=given)
    space: dict[str, Callable[..., Callable[..., Any]]] = {}
    exec(compile(text, __file__, "exec"), space)
    return space["made"](function, state, state.gate)
