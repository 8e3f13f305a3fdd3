"""The types of what `script` and `trace` give, for programs that ask with `isinstance`."""

from __future__ import annotations

import abc
import types
from typing import Any, NoReturn

from taeda import nn

__all__ = ["Attribute", "ScriptFunction", "ScriptModule", "is_scripted", "mark", "script_method"]


class _Kind(abc.ABCMeta):
    """What `script` made is of the kind as well, although it is of the class that the user wrote."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        if cls is ScriptFunction and getattr(instance, "_traces_a_function", False) is True:
            return True  # a module, for what it was recorded with may be its parameters
        made = is_scripted(instance)
        return made and cls is (ScriptModule if isinstance(instance, nn.Module) else ScriptFunction)


class ScriptModule(nn.Module, metaclass=_Kind):
    """The type of modules that `script` and `trace` give: a module, whose methods stay Python.

    A class that derives from it is a module like every other; `script_method` marks nothing.

    >>> import taeda
    >>> isinstance(taeda.jit.trace(taeda.nn.Linear(2, 2), taeda.ones(1, 2)), ScriptModule)
    True
    >>> isinstance(taeda.nn.Linear(2, 2), ScriptModule)
    False
    """


class ScriptFunction(metaclass=_Kind):
    """The type of what `script` and `trace` give for a function. TypeError for a call: `script` makes them.

    >>> isinstance(len, ScriptFunction)
    False
    """

    def __new__(cls) -> NoReturn:
        raise TypeError("ScriptFunction: jit.script(function) makes them")


class Attribute:
    """The value itself: a call gives `value`, for attributes are what Python has there.

    Args:
        value: the value
        type: for who reads; nothing is checked

    >>> Attribute([1, 2], list[int])
    [1, 2]
    """

    def __new__(cls, value: Any, type: Any) -> Any:
        """The value."""
        return value


def script_method(fn: Any) -> Any:
    """Decorator: a method of a ScriptModule. It stays as it is.

    Args:
        fn: the method

    >>> class Double(ScriptModule):
    ...     @script_method
    ...     def forward(self, x):
    ...         return 2 * x
    >>> Double()(3)
    6
    """
    return fn


def mark(made: Any) -> Any:
    """What `script` made, so that it is known as such."""
    made.__dict__["_is_scripted"] = True
    return made


def is_scripted(value: Any) -> bool:
    """Whether `script` made it."""
    known = isinstance(value, nn.Module | types.FunctionType)
    return known and value.__dict__.get("_is_scripted", False) is True
