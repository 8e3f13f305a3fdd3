"""Calls: of the user's functions, whose copies run, of known code, of types."""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
import types
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._higher_order_ops._recorded import recorded as _loop

from ..._arguments import tensors_in
from ..._errors import CannotCopy
from ..._kinds import (
    PURE_TYPES,
    is_immutable,
    is_known_code,
    is_library,
    is_optimizer_type,
    is_record,
    static,
)
from ..._promises import ALLOWED, CONSTANT, substitute
from ..callers import OF_CALLERS, OF_VARIABLES
from ..rewrite import catching_lines, copy_of
from .c_calls import CCalls
from .checkpoints import is_checkpoint, run_checkpoint
from .names import Names, Scope
from .optimizers import is_optimizer

__all__ = ["Calls"]


_STATE = frozenset(
    {"parameters", "named_parameters", "buffers", "named_buffers", "children", "named_children",
     "modules", "named_modules",
     "get_submodule", "get_parameter", "get_buffer", "extra_repr", "_get_name", "zero_grad",
     "forward", "__call__", "__getitem__",
     "__len__", "__iter__", "__contains__", "items", "keys", "values", "state_dict", "requires_grad_"}
)  # fmt: skip
#: code that knows of .grad
_GRADIENTS = ("taeda.autograd", "taeda.optim", "taeda.nn.utils", "taeda.utils")
#: parts of taeda that call functions of the user, and are observed as those are
_COPIED = (
    "taeda._higher_order_ops", "taeda.nn.attention.flex_attention", "taeda.nn.utils.parametriz",
    "taeda.nn.utils._orthogonal",
)  # fmt: skip
_backward = taeda.Tensor.backward
#: functions of the library whose arguments are functions that they call, or their results do
_CALLING = frozenset(
    {taeda.cond, _loop}
    | {
        getattr(taeda.func, name)
        for name in ("vmap", "grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian")
    }
)


class Calls(CCalls, Names):
    """Sees calls."""

    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """function(*args, **kwargs)"""
        asks = OF_CALLERS.get(id(function))
        if asks is not None:
            self.stop(f"it calls {function.__module__}.{function.__name__}")
            if id(function) in OF_VARIABLES:
                self.outer = None, 0  # who looks at variables of the caller wants all of them
            return asks(*args, **kwargs)
        if not self.active:
            return function(*args, **kwargs)
        if id(function) in ALLOWED or id(function) in CONSTANT:
            return self._call_promised(function, args, kwargs)
        other = substitute(function)
        if other is not None:
            return self.call(other, *args, **kwargs)
        bound = isinstance(function, types.MethodType)
        if function is os.getenv or (bound and function.__self__ is os.environ):
            return self._call_query(function, args, kwargs)
        if isinstance(function, types.MethodType):
            self.is_old(function)
            owner = function.__self__
            own = function.__func__
            if (
                isinstance(own, types.FunctionType)
                and isinstance(owner, nn.Module)
                and _reads_parametrized(owner, own)
            ):
                self.module(owner)
                return self.copy(own)(owner, *args, **kwargs)
            if is_optimizer(owner) or isinstance(owner, nn.Module):
                self._before_method(owner, function)
            return self.call(function.__func__, owner, *args, **kwargs)
        if isinstance(function, types.FunctionType):
            return self._call_python(function, args, kwargs)
        if isinstance(function, functools.partial):
            self.is_old(function)  # then what it holds is marked
            return self.call(
                function.func, *function.args, *args, **{**function.keywords, **kwargs}
            )
        if isinstance(function, type):
            return self._call_type(function, args, kwargs)
        if isinstance(function, nn.Module):
            return function(*args, **kwargs)  # Module.__call__ comes back here
        method = static(type(function), "__call__")
        if isinstance(method, types.FunctionType):
            self._saw_class_of(function)
            return self._call_python(method, (function, *args), kwargs)
        return self._call_c(function, args, kwargs)

    def call_of_library(self, owner: Any, function: Any, args: Any, kwargs: Any) -> Any:
        """A function of the program that the library calls: of a class, or one that was registered."""
        if (getattr(function, "__module__", None) or "").startswith("taeda."):
            return function(*args, **kwargs)
        if isinstance(owner, type):
            for kind in owner.__mro__[:-1]:
                if not is_library(kind.__module__):
                    self.klass(kind)
        return self.call(function, *args, **kwargs)

    def _decorated(self, function: types.FunctionType) -> None:
        """Guard what a decorator of the library keeps: the function below it, its context's settings."""
        if not function.__closure__:
            return
        self.guards.function(function)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True):
            value = cell.cell_contents
            self.guards.cell(cell, name, value)
            for attribute, setting in getattr(value, "__dict__", {}).items():
                if is_immutable(setting):
                    self.guards.attribute(value, attribute, setting)

    def _call_promised(self, function: Any, args: Any, kwargs: Any) -> Any:
        """A function that somebody vouches for (`_promises`)."""
        for value in (*args, *kwargs.values()):
            self._all_of(value)
        if not self.active:
            return function(*args, **kwargs)
        if id(function) in CONSTANT:
            return self._call_aside(function, args, kwargs)
        sys.setprofile(None)
        try:
            return function(*args, **kwargs)
        finally:
            sys.setprofile(self.profile)

    def _call_aside(self, function: Any, args: Any, kwargs: Any) -> Any:
        """A call of which the graph keeps the result."""
        with self.aside():
            result = function(*args, **kwargs)
        self.mark(result)
        return result

    def _keeps_values(self, args: Any, kwargs: Any) -> bool:
        """Whether guards can say that the tensors among these hold what they hold now: they were
        there before, are the same ones in each call, and nothing wrote to them.
        """
        tensors = [t for value in (*args, *kwargs.values()) for t in tensors_in(value)]
        if not all(self.recorder.is_kept_as_it_was(t) for t in tensors):
            return False
        self.recorder.active = False
        for t in tensors:
            self.guards.expression(
                "$tensor.equal($content)", "contents of a tensor", tensor=t, content=t.clone()
            )
        self.recorder.active = True
        return True

    def _call_query(self, function: Any, args: Any, kwargs: Any) -> Any:
        """A question of which the guard asks again: of the environment variables."""
        if (
            getattr(function, "__name__", "")
            not in ("get", "getenv", "__getitem__", "__contains__")
            or kwargs
        ):
            self.stop(f"it calls {function.__qualname__}")
            return function(*args, **kwargs)
        sys.setprofile(None)
        try:
            value = function(*args)
        finally:
            sys.setprofile(self.profile)
        self.guards.expression(
            "_same($f(*$args), $value)",
            f"environment variable {args[0]}",
            f=function,
            args=args,
            value=value,
        )
        return value

    def _before_method(self, owner: Any, method: Any) -> None:
        library = is_library(method.__func__.__module__ or "")
        if isinstance(owner, nn.Module):
            if library and method.__name__ not in _STATE:
                self.stop(f"it calls Module.{method.__name__}")
            self.tree(owner) if library else self.module(owner)
        elif library:
            if method.__name__ not in ("step", "zero_grad"):
                self.stop(f"it calls Optimizer.{method.__name__}")
            self.optimizer(owner)

    def _before_noted_step(self, function: types.FunctionType) -> None:
        """The step of an optimizer that has a schedule: it notes that it was called, which changes
        nothing but the first time.
        """
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        optimizer = cells["owner"].cell_contents() if "owner" in cells else None
        if optimizer is None or optimizer.__dict__.get("_opt_called") is not True:
            self.stop("a schedule waits for the first step", passing=True)
        else:
            self.optimizer(optimizer)

    def _call_python(self, function: types.FunctionType, args: Any, kwargs: Any) -> Any:
        module = function.__module__ or ""
        original = getattr(function, "__taeda_original__", None)
        if original is not None:
            return self.call(original, *args, **kwargs)
        if function in _CALLING:
            named = {k: self._observed(v) for k, v in kwargs.items()}
            return self._came(function(*map(self._observed, args), **named))
        if is_checkpoint(function, args, kwargs):
            return run_checkpoint(self, args, kwargs)
        if getattr(function, "__taeda_of_values__", False) and self._keeps_values(args, kwargs):
            return self._call_aside(function, args, kwargs)
        if hasattr(function, "_wrapped_by_lr_sched"):
            self._before_noted_step(function)
        known = is_known_code(function.__code__, function.__globals__.get("__name__", ""))
        mixin = module in ("_collections_abc", "collections.abc", "collections") and any(
            self.is_old(a) for a in args[:1]
        )
        if (known and not mixin) or (
            module.startswith("taeda.") and not module.startswith(_COPIED)
        ):
            for value in (*args, *kwargs.values()):
                self._all_of(value)
            if known and not module.startswith("taeda.") and not self.is_new(function):
                self._decorated(function)
            if module.startswith(_GRADIENTS) or function.__name__ in ("zero_grad", "backward"):
                self.touches_gradients = True
            self.walks_back |= function.__name__ == "backward"
            if function is _backward:
                self._note_backward(args, kwargs)
            return self._came(function(*args, **kwargs))
        return self.copy(function)(*args, **kwargs)

    def _came(self, value: Any) -> Any:
        """What known code gave. A dict in it that is none of its arguments, all of which were looked
        at, is new; the collector of cycles tells that of all other containers.
        """
        if type(value) is dict and id(value) not in self._old and id(value) not in self.given:
            self.fresh(value)
        if type(value) in (dict, list, tuple):
            for entry in value.values() if isinstance(value, dict) else value:
                self._came(entry)
        return value

    def _observed(self, value: Any) -> Any:
        """A function that the library calls, as a call that is seen; other values are read."""
        if callable(value) and not isinstance(value, Tensor | type):
            return functools.partial(self.call, value)
        self._all_of(value)
        return value

    def copy(self, function: types.FunctionType) -> types.FunctionType:
        """The instrumented copy of a function of the user; itself, and the recording ends, if there
        is none.
        """
        if function.__code__ in self._codes:
            return function  # defined inside of a copy
        known = self._copies.get(function)
        if known is not None:
            return known
        sys.setprofile(None)
        try:
            code = copy_of(function.__code__)
            lines = catching_lines(function.__code__)
        except CannotCopy as error:
            self.stop(f"{function.__qualname__} has no copy: {error}")
            return function
        finally:
            sys.setprofile(self.profile)
        self.guards.function(function)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.mark(value)
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        cells["__observer__"] = types.CellType(Scope(self, function))
        made = types.FunctionType(
            code,
            function.__globals__,
            function.__name__,
            function.__defaults__,
            tuple(cells[n] for n in code.co_freevars),
        )
        made.__kwdefaults__ = function.__kwdefaults__
        made.__qualname__ = function.__qualname__  # what errors about its arguments name
        self._codes.update(_all_codes(code))
        self._catching.setdefault(code.co_filename, set()).update(lines)
        self._copies[function] = made
        return made

    def _note_backward(self, args: Any, kwargs: Any) -> None:
        root = args[0] if args else kwargs.get("self")
        keep = kwargs.get("retain_graph", args[2] if len(args) > 2 else None)
        create = kwargs.get("create_graph", args[3] if len(args) > 3 else False)
        if keep or create or not isinstance(root, Tensor):
            return
        pending = [root.grad_fn]
        while pending:
            node = pending.pop()
            if node is None or id(node) in self.consumed:
                continue
            self.consumed.add(id(node))
            self._old[id(node)] = node
            pending += [n for n, _ in node.next_functions]

    def _call_type(self, kind: Any, args: Any, kwargs: Any) -> Any:
        if kind in PURE_TYPES or issubclass(kind, BaseException):
            return self._call_c(kind, args, kwargs)
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            self.klass(kind)
            return kind(*args, **kwargs)
        if is_library(kind.__module__):
            if issubclass(kind, nn.Module) or is_optimizer_type(kind):
                self.stop(f"it makes a {kind.__qualname__}")
            for value in (*args, *kwargs.values()):
                self._all_of(value)
            if kind.__module__ == "taeda.amp.autocast_mode":
                self._saw_autocast()
            return kind(*args, **kwargs)
        self.klass(kind)
        init = kind.__init__
        plain = (
            type(kind) is type
            and getattr(kind, "__new__", None) is object.__new__
            and not issubclass(kind, Tensor | nn.Module)
        )
        if not plain:
            self.stop(f"it makes a {kind.__module__}.{kind.__qualname__}")
            return kind(*args, **kwargs)
        if not isinstance(init, types.FunctionType):
            if init is not object.__init__:
                self.stop(f"the __init__ of a {kind.__qualname__} is not seen")
            return self.fresh(kind(*args, **kwargs))
        made = self.fresh(kind.__new__(kind))
        if is_record(kind) and init.__code__.co_filename == "<string>":
            self._before_generated(init)
            init(made, *args, **kwargs)
            self._after_generated(kind, made, (*args, *kwargs.values()))
        else:
            self.call(init, made, *args, **kwargs)
        return made

    def _saw_autocast(self) -> None:
        """A region of autocast takes the dtype that is set at the time."""
        for device in ("cpu", "cuda"):
            self.guards.expression(
                "$get($device) is $dtype",
                "the dtype of autocast",
                get=taeda.get_autocast_dtype,
                device=device,
                dtype=taeda.get_autocast_dtype(device),
            )

    def _before_generated(self, init: types.FunctionType) -> None:
        """The `__init__` that `dataclass` wrote runs as it is: it stores what it is given. What it
        calls besides (`__post_init__`, a factory) is seen by the profile hook.
        """
        self.guards.function(init)
        for value in (*(init.__defaults__ or ()), *(init.__kwdefaults__ or {}).values()):
            self.mark(value)
        self._known[id(init.__code__)] = init.__code__, init.__globals__

    def _after_generated(self, kind: Any, made: Any, given: tuple[Any, ...]) -> None:
        """What factories of fields made, where a field was not given."""
        for entry in dataclasses.fields(kind):
            value = vars(made).get(entry.name)
            given_one = any(value is other for other in given)
            if entry.default_factory in (dict, list, set) and not given_one:
                self.fresh(value)


def _all_codes(code: types.CodeType) -> list[types.CodeType]:
    found = [code]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _all_codes(constant)
    return found


def _reads_parametrized(owner: nn.Module, method: types.FunctionType) -> bool:
    """Whether this is a method of the library that may read tensors which modules of the user
    compute: it runs as an observed copy.
    """
    return (
        "parametrizations" in owner._modules
        and is_library(method.__module__ or "")
        and (method.__name__ not in _STATE or method.__name__ == "forward")
    )
