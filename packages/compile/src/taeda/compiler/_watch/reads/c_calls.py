"""Calls of functions in C: operations, builtins, methods of containers."""

from __future__ import annotations

import abc
import collections
import functools
import itertools
import operator
import types
from typing import Any

from taeda import Tensor, nn
from taeda._core_api import programs as _core

from ..._kinds import (
    CONTAINERS,
    PURE_BUILTINS,
    PURE_TYPES,
    READERS,
    WRITTEN,
    is_immutable,
    is_known_code,
    is_operation,
    is_tensor_method,
    static,
)
from .attributes import INPLACE
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
#: methods in C of containers that look at no entry
_COMPARES_NOTHING = frozenset(
    {"append", "appendleft", "add", "extend", "extendleft", "insert", "pop", "popleft", "popitem",
     "clear", "update", "setdefault", "get", "keys", "values", "items", "copy", "__len__", "__iter__",
     "__reversed__", "__getitem__", "__setitem__"}
)  # fmt: skip
_OF_TYPES = frozenset({"fromkeys", "fromhex", "from_bytes", "maketrans"})
#: methods in C of every object that read and write nothing
_OF_OBJECTS = frozenset({"__init__", "__eq__", "__ne__", "__hash__", "__init_subclass__"})


class CCalls(Items):
    """Sees calls of functions in C."""

    @abc.abstractmethod
    def copy(self, function: types.FunctionType) -> types.FunctionType:
        """The instrumented copy of a function of the user."""

    def _call_c(self, function: Any, args: Any, kwargs: Any) -> Any:
        if is_operation(function):
            return self._call_operation(function, args, kwargs)
        seen = _SEEN.get(function) if _can_hash(function) else None
        if seen is not None and not kwargs:
            return seen(self, *args)
        owner = getattr(function, "__self__", None)
        if isinstance(function, types.MethodDescriptorType | types.WrapperDescriptorType) and args:
            owner = args[0]
        if isinstance(owner, Tensor):
            if not is_tensor_method(function.__name__):
                self.stop(f"it calls Tensor.{function.__name__}")
            return self._call_operation(function, args, kwargs)
        if function in _STATE_FUNCTIONS or id(function) in PURE_BUILTINS or function in PURE_TYPES:
            return self._call_pure(function, args, kwargs)
        if isinstance(function, types.BuiltinMethodType) and isinstance(owner, type):
            if owner not in PURE_TYPES or function.__name__ not in _OF_TYPES:  # dict.fromkeys
                self.stop(f"it calls {function.__qualname__}")
            return self.fresh(self._call_pure(function, args, kwargs))
        if isinstance(owner, CONTAINERS):
            return self._call_of_container(owner, function, args, kwargs)
        if (
            isinstance(function, type)
            or (is_immutable(owner) and owner is not None)
            or isinstance(owner, tuple | frozenset)
        ):
            self.whole(owner)
            return self._call_pure(function, args, kwargs)
        if getattr(function, "__name__", "") in _OF_OBJECTS and _is_of_object(function):
            return function(*args, **kwargs)
        name = getattr(function, "__qualname__", type(function).__qualname__)
        self.stop(
            f"it calls {getattr(function, '__module__', None) or type(function).__module__}.{name}"
        )
        return function(*args, **kwargs)

    def _call_operation(self, function: Any, args: Any, kwargs: Any) -> Any:
        """An operation reads all of its arguments: lists of dimensions, of sizes, of indices."""
        for value in (*args, *kwargs.values()):
            self._all_of(value)
        made = function(*args, **kwargs)
        # a list of an operator that was defined at run time; a composite may give one that it read
        if type(made) is list and id(made) not in self._old and id(made) not in self.given:
            self.fresh(made)
        return made

    def _call_pure(self, function: Any, args: Any, kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            if isinstance(value, types.GeneratorType):
                if id(value) in self.around:
                    self.each(value)
            elif not isinstance(value, types.FunctionType):  # nobody walks through one
                self.each(value)
                self.whole(value)
        place = _CALLED.get(function, -1)
        if function is iter and len(args) == 2:
            place = 0
        args = tuple(self._calling(a) if n == place else a for n, a in enumerate(args))
        made = function(*args, **self._with_called(kwargs, _CALLED_BY_NAME.get(function)))
        return self.fresh(made) if isinstance(function, type) else made

    def _with_called(self, kwargs: dict[str, Any], name: str | None) -> dict[str, Any]:
        """The keywords, of which one may be a function that is called."""
        return {k: self._calling(v) if k == name else v for k, v in kwargs.items()}

    def _calling(self, value: Any) -> Any:
        """A function as an argument that is called: the call is seen. Elsewhere it is a value like
        others.
        """
        if isinstance(value, types.FunctionType) and not is_known_code(
            value.__code__, value.__module__ or ""
        ):
            return self.copy(value)
        if value is None or not callable(value) or (_can_hash(value) and value in PURE_TYPES):
            return value
        return functools.partial(self.call, value)

    def _call_of_container(self, owner: Any, function: Any, args: Any, kwargs: Any) -> Any:
        name = function.__name__
        rest = args[1:] if args and args[0] is owner else args
        if name == "__getitem__" and len(rest) == 1:
            return self.item(owner, *rest)
        if name == "setdefault" and 1 <= len(rest) <= 2 and rest[0] in owner and not kwargs:
            return self.item(owner, rest[0])
        if name not in READERS and not self.may_change(owner):
            self.stop(
                f"it calls {name} of a container that was there before",
                passing=isinstance(owner, dict),
            )
        elif self.is_old(owner):
            if name == "get" and isinstance(owner, dict) and rest and rest[0] in owner:
                return self._item_of_container(owner, rest[0])
            self._all_of(owner, objects=False)
        elif name not in _COMPARES_NOTHING:
            self.whole(owner)
        for value in rest:
            self.each(value)
            self.whole(value)
        made = function(*args, **self._with_called(kwargs, "key" if name == "sort" else None))
        return self.fresh(made) if name in ("copy", "__or__", "__ror__") else made

    # ---- functions that do what syntax does ----

    def _read_by_name(self, owner: Any, name: Any, *default: Any) -> Any:
        """getattr(owner, name[, default])"""
        try:
            return self.read(owner, name)
        except AttributeError:
            if not default:
                raise
            return default[0]

    def _has(self, owner: Any, name: Any) -> bool:
        """hasattr(owner, name)"""
        try:
            self.read(owner, name)
        except AttributeError:
            return False
        return True

    def _kind_of(self, value: Any, *more: Any) -> Any:
        """type(value)"""
        if more:
            self.stop("it makes a class")
            return type(value, *more)
        self._saw_class_of(value)
        return type(value)

    def _is_of(self, value: Any, kinds: Any) -> bool:
        """isinstance(value, kinds)"""
        self._saw_class_of(value)
        self._saw_kinds(kinds)
        return isinstance(value, kinds)

    def _is_below(self, kind: Any, kinds: Any) -> bool:
        """issubclass(kind, kinds)"""
        self._saw_kinds(kind)
        self._saw_kinds(kinds)
        return issubclass(kind, kinds)

    def _can_be_called(self, value: Any) -> bool:
        """callable(value)"""
        self._saw_class_of(value)
        return callable(value)

    def _saw_class_of(self, value: Any) -> None:
        kind: Any = type(value)
        if isinstance(value, Tensor) or not kind.__flags__ & WRITTEN or isinstance(value, type):
            return
        self.klass(kind)
        if isinstance(value, nn.Module):
            self.module(value)
        elif not is_immutable(value) and self.is_old(value):
            self.guards.attribute(value, "__class__", value.__class__)

    def _saw_kinds(self, kinds: Any) -> None:
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            if isinstance(kind, types.UnionType):
                self._saw_kinds(kind.__args__)
            elif isinstance(kind, tuple):
                self._saw_kinds(kind)
            elif isinstance(kind, abc.ABCMeta):
                self.klass(kind)
                if getattr(kind, "_is_protocol", False):
                    self.stop(f"it asks whether something is a {kind.__qualname__}, a protocol")
                self.guards.expression(
                    "$abc_token() == $abc_now",
                    "classes that are registered",
                    abc_token=abc.get_cache_token,
                    abc_now=abc.get_cache_token(),
                )
            elif isinstance(kind, type):
                self.klass(kind)

    def _delete_item(self, owner: Any, key: Any) -> None:
        """operator.delitem(owner, key)"""
        if not (isinstance(owner, CONTAINERS) and self.may_change(owner)):
            self.stop("it deletes an item")
        operator.delitem(owner, key)

    def _store_at_object(self, owner: Any, name: Any, value: Any) -> None:
        """object.__setattr__(owner, name, value)"""
        if isinstance(owner, Tensor | nn.Module | type) or not self.may_change(owner):
            self.stop(f"it stores to {type(owner).__name__}.{name}")
        object.__setattr__(owner, name, value)

    def _read_at_object(self, owner: Any, name: Any) -> Any:
        """object.__getattribute__(owner, name)"""
        if isinstance(owner, Tensor | nn.Module | type) or self.is_old(owner):
            self.stop("it calls object.__getattribute__")
        return object.__getattribute__(owner, name)


def _can_hash(function: Any) -> bool:
    """Whether it is a function or type by itself: methods in C are hashed with their object."""
    if isinstance(function, types.BuiltinMethodType):
        return isinstance(function.__self__, types.ModuleType | None)
    return isinstance(function, type | types.FunctionType | types.WrapperDescriptorType)


def _is_of_object(function: Any) -> bool:
    """Whether it is a method in C that every object has."""
    own = getattr(object, function.__name__)
    if isinstance(function, types.WrapperDescriptorType):
        return function is own
    kind: Any = type(getattr(function, "__self__", None))
    return static(kind, function.__name__) is own


_INPLACE_FUNCTIONS = {getattr(operator, name): op for op, name in INPLACE.items()}
#: functions in C that the observer does itself
_SEEN: dict[Any, Any] = {
    getattr: CCalls._read_by_name, hasattr: CCalls._has, setattr: CCalls.store,
    type: CCalls._kind_of, isinstance: CCalls._is_of, issubclass: CCalls._is_below,
    callable: CCalls._can_be_called, operator.getitem: CCalls.item,
    operator.setitem: CCalls.set_item, operator.delitem: CCalls._delete_item,
    object.__setattr__: CCalls._store_at_object,
    object.__getattribute__: CCalls._read_at_object,
    **{
        function: lambda self, target, value, op=op: self.change(op, target, value)
        for function, op in _INPLACE_FUNCTIONS.items()
    },
}  # fmt: skip
_SEEN[operator.is_] = lambda self, a, b: self.identity(a) is self.identity(b)
_SEEN[operator.is_not] = lambda self, a, b: self.identity(a) is not self.identity(b)
if hasattr(operator, "call"):  # from Python 3.11 on
    _SEEN[operator.call] = lambda self, function, *args: self.call(function, *args)
