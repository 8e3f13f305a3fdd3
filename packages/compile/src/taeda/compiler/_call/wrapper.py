"""The function that stands in for a compiled one.

While its gate is empty, calls go to the state behind it; else at once to the function itself, which
is all that a small function that stays eager can bear. So it has the parameters of the function: to
take and to pass on any arguments costs as much as five small operations.

A function that nobody else holds (a lambda, a decorated one) costs nothing more: what stands in for
it takes its code while the gate is closed. Others may give it another code or other defaults later,
so they are called each time.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

from .compiled import Compiled

__all__ = ["is_held", "wrapper"]

_WAY = "_compiled_function", "_compiled_state", "_compiled_gate"
_TEXT = """
def made({names[0]}, {names[1]}, {names[2]}):
    def call({parameters}):
        if {names[2]}:
            return {names[0]}({given})
        return {names[1]}(({given}), {{}})
    return call
"""


# what is put in place of "way" is no strong reference: nobody finds a cycle that goes through a code
_ASKING = """
def made({free}):
    def call({parameters}):
        if 0:
            ({free})
        {way} = "way"
        return {way}()({args}, {kwargs})
    return call
"""


def _references(thing: Any) -> int:
    return sys.getrefcount(thing)


_ONE = _references(object())  # of what nobody holds, in a function that is given it


def is_held(references: int) -> bool:
    """Whether others hold what a function of Python was given, by `sys.getrefcount` of its parameter."""
    return references > _ONE


def wrapper(
    function: Callable[..., Any], state: Compiled, *, alone: bool = False
) -> Callable[..., Any]:
    """`function`, whose calls go through `state` as long as that wants them; `alone` if nobody else
    holds it.
    """
    alone = alone and not hasattr(function, "__taeda_original__")
    function = getattr(function, "__taeda_original__", function)
    state.function = function
    own = _with_its_code(function, state) if alone else None
    call = own or _of_its_parameters(function, state) or _of_any(function, state)
    functools.update_wrapper(call, function)
    made: Any = call
    made.__taeda_original__ = function  # what `disable` gives back
    made.__taeda_compiled__ = state  # what `explain` looks at
    return call


def _of_any(function: Callable[..., Any], state: Compiled) -> Callable[..., Any]:
    if type(function) is types.FunctionType and (function.__defaults__ or function.__kwdefaults__):
        return _of_defaults(function, state)
    gate = state.gate

    def call(*args: Any, **kwargs: Any) -> Any:
        if gate:
            return function(*args, **kwargs)
        return state(args, kwargs)

    return call


def _of_defaults(function: types.FunctionType, state: Compiled) -> Callable[..., Any]:
    """The same of a function with defaults: those that somebody gives to what stands in for it are
    used from then on, and the call runs as it is written.
    """
    gate, kept, named = state.gate, function.__defaults__, function.__kwdefaults__

    def call(*args: Any, **kwargs: Any) -> Any:
        made = own()
        assert made is not None
        if made.__defaults__ is not kept or made.__kwdefaults__ is not named:
            return _with_defaults(function, made)(*args, **kwargs)
        if gate:
            return function(*args, **kwargs)
        return state(args, kwargs)

    own = weakref.ref(call)
    call.__defaults__, call.__kwdefaults__ = kept, named
    return call


def _with_defaults(function: types.FunctionType, given: Any) -> types.FunctionType:
    made = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        given.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = given.__kwdefaults__
    return made


#: generators and coroutines: Python 3.13 warns of a function that becomes one
_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def _with_its_code(function: Any, state: Compiled) -> Callable[..., Any] | None:
    """A function over the same variables, whose code asks `state`; while the gate is closed it is
    that of `function`.
    """
    if type(function) is not types.FunctionType or function.__code__.co_flags & _RESUMED:
        return None
    asking = _asking(function, weakref.ref(state))
    if asking is None:
        return None
    call = types.FunctionType(
        asking, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    call.__kwdefaults__ = function.__kwdefaults__
    own = weakref.ref(call)

    def follow(closed: bool) -> None:
        made = own()
        if made is not None:
            made.__code__ = function.__code__ if closed else asking

    state.at_gate = follow
    return call


def _asking(function: Any, way: Any) -> types.CodeType | None:
    names = _plain_names(function)
    free = "".join(f"{name}, " for name in function.__code__.co_freevars)
    parts = {"parameters": "*args, **kwargs", "args": "args", "kwargs": "kwargs"}
    if names is not None:
        given = "".join(f"{name}, " for name in names)
        parts = {"parameters": ", ".join(names), "args": f"({given})", "kwargs": "{}"}
    if {"args", "kwargs", _WAY[0]} & {*function.__code__.co_freevars}:
        return None
    space: dict[str, Any] = {}
    exec(compile(_ASKING.format(free=free, way=_WAY[0], **parts), __file__, "exec"), space)
    code = space["made"](*function.__code__.co_freevars).__code__
    return code.replace(co_consts=tuple(way if c == "way" else c for c in code.co_consts))


def _plain_names(function: types.FunctionType) -> tuple[str, ...] | None:
    """The parameters, if every call gives each, by position or by name."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    packed = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    optional = function.__defaults__ or code.co_kwonlyargcount or code.co_posonlyargcount
    if packed or optional or not all(map(str.isidentifier, names)) or set(names) & set(_WAY):
        return None
    return names


def _of_its_parameters(function: Any, state: Compiled) -> Callable[..., Any] | None:
    """The same where every call gives every parameter, by position or by name."""
    names = _plain_names(function) if type(function) is types.FunctionType else None
    if names is None:
        return None
    given = "".join(f"{name}, " for name in names)
    text = _TEXT.format(names=_WAY, parameters=", ".join(names), given=given)
    space: dict[str, Callable[..., Callable[..., Any]]] = {}
    exec(compile(text, __file__, "exec"), space)
    return space["made"](function, state, state.gate)
