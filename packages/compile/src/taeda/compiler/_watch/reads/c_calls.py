"""Calls of functions in C: operations, builtins, methods of containers."""

from __future__ import annotations

import collections
import functools
import itertools
import operator
import types
from abc import abstractmethod
from typing import Any

from taeda import Tensor, nn
from taeda._core_api import programs as _core

from ..._kinds import (
    CONTAINERS,
    MUTATORS,
    PURE_BUILTINS,
    PURE_TYPES,
    is_immutable,
    is_known_code,
    is_operation,
)
from .attributes import TENSOR_DENIED
from .items import Items

__all__ = ["CCalls"]


_STATE_FUNCTIONS: frozenset[Any] = frozenset({_core._set_grad_enabled, _core.is_grad_enabled})
#: which argument of a function in C is a function that it calls
_CALLED: dict[Any, int] = {
    map: 0, filter: 0, functools.reduce: 0, itertools.starmap: 0, collections.defaultdict: 0,
    itertools.accumulate: 1,
}  # fmt: skip
_CALLED_BY_NAME: dict[Any, str] = {
    sorted: "key",
    min: "key",
    max: "key",
    itertools.accumulate: "func",
}
if hasattr(operator, "call"):  # from Python 3.11 on
    _CALLED[operator.call] = 0


class CCalls(Items):
    """Sees calls of functions in C."""

    @abstractmethod
    def copy(self, function: types.FunctionType) -> types.FunctionType:
        """The instrumented copy of a function of the user."""

    def _call_c(self, function: Any, args: Any, kwargs: Any) -> Any:
        if is_operation(function):
            return function(*args, **kwargs)
        if function is getattr and len(args) in (2, 3) and isinstance(args[1], str):
            try:
                return self.read(*args[:2])
            except AttributeError:
                if len(args) == 3:
                    return args[2]
                raise
        if function is hasattr:
            try:
                self.read(*args)
            except AttributeError:
                return False
            return True
        if function is setattr:
            return self.store(*args)
        owner = getattr(function, "__self__", None)
        if isinstance(owner, Tensor) or (
            isinstance(function, types.MethodDescriptorType)
            and issubclass(function.__objclass__, Tensor)
        ):
            if function.__name__ in TENSOR_DENIED:
                self.stop(f"it calls Tensor.{function.__name__}")
            return function(*args, **kwargs)
        if isinstance(function, types.MethodDescriptorType | types.WrapperDescriptorType) and args:
            owner = args[0]
        if function in _STATE_FUNCTIONS or id(function) in PURE_BUILTINS or function in PURE_TYPES:
            return self._call_pure(function, args, kwargs)
        if isinstance(owner, CONTAINERS):
            return self._call_of_container(owner, function, args, kwargs)
        if (
            isinstance(function, type)
            or (is_immutable(owner) and owner is not None)
            or isinstance(owner, tuple | frozenset)
        ):
            return self._call_pure(function, args, kwargs)
        if isinstance(function, types.WrapperDescriptorType) and function.__objclass__ is object:
            return function(*args, **kwargs)
        name = getattr(function, "__qualname__", type(function).__qualname__)
        self.stop(
            f"it calls {getattr(function, '__module__', None) or type(function).__module__}.{name}"
        )
        return function(*args, **kwargs)

    def _call_pure(self, function: Any, args: Any, kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            if isinstance(value, types.GeneratorType | types.FunctionType):
                continue  # nobody walks through a function
            if function not in (isinstance, issubclass, callable, type):
                self.each(value)
                self.whole(value)
        place = _CALLED.get(function, -1)
        if function is iter and len(args) == 2:
            place = 0
        args = tuple(self._calling(a) if n == place else a for n, a in enumerate(args))
        return function(*args, **self._with_called(kwargs, _CALLED_BY_NAME.get(function)))

    def _with_called(self, kwargs: dict[str, Any], name: str | None) -> dict[str, Any]:
        """The keywords, of which one may be a function that is called."""
        return {k: self._calling(v) if k == name else v for k, v in kwargs.items()}

    def _calling(self, value: Any) -> Any:
        """A function of the user as an argument that is called: its copy is.
        Elsewhere it is a value like others.
        """
        if isinstance(value, types.FunctionType) and not is_known_code(
            value.__code__, value.__module__ or ""
        ):
            return self.copy(value)
        if isinstance(value, types.MethodType | nn.Module):
            return functools.partial(self.call, value)
        return value

    def _call_of_container(self, owner: Any, function: Any, args: Any, kwargs: Any) -> Any:
        name = function.__name__
        if name in MUTATORS and not self.may_change(owner):
            self.stop(
                f"it calls {name} of a container that was there before",
                passing=isinstance(owner, dict),
            )
        elif self.is_old(owner):
            if name == "get" and isinstance(owner, dict) and args and args[0] in owner:
                return self._item_of_container(owner, args[0])
            else:
                self.contents(owner)
        for value in args:
            self.each(value)
        return function(*args, **self._with_called(kwargs, "key" if name == "sort" else None))
