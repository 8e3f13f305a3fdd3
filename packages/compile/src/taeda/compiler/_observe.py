"""Sees what a program reads, stores and calls while it is recorded, and makes guards of it.

The instrumented copies of the program's functions (`_rewrite`) call the methods of `Observer`. Each does what Python would have
done, with the same result; what is observed never changes what is computed. The first thing that cannot be guarded or replayed is
kept in `reason`, and from there on nothing is recorded.

    a value that was there before   is guarded by who read it
    a store to something old        ends the recording, unless nothing changes by it, or it is a gradient
    a function of the user          runs as its copy
    known code                      runs as it is (`_kinds`); what it may read of its arguments is guarded as a whole
    any other code                  ends the recording; a profile hook sees the code that slipped in
"""

from __future__ import annotations

import collections
import functools
import operator
import os
import sys
import types
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api import programs as _core

from ._guards import Guards, same_value
from ._kinds import (
    CONTAINERS,
    MUTATORS,
    PURE_BUILTINS,
    PURE_TYPES,
    is_immutable,
    is_known_code,
    is_library,
    is_operation,
    is_plain_instance,
    is_plain_tensor,
)
from ._record import Recorder
from ._rewrite import CannotCopy, copy_of

__all__ = ["Observer", "Stop", "here"]

_PASSING = "passing: "  # reasons that another run may not have


class Stop(Exception):
    """Raised in a program with fullgraph=True where its graph would break."""


class _Here:
    """The observer of this thread."""

    def __init__(self) -> None:
        import threading

        self._local = threading.local()

    def get(self) -> Observer | None:
        return getattr(self._local, "observer", None)

    def set(self, observer: Observer | None) -> None:
        self._local.observer = observer


here = _Here()

_TENSOR_FACTS = frozenset(
    "shape dtype device layout ndim itemsize nbytes requires_grad is_leaf is_cpu is_cuda is_meta is_sparse is_quantized T mT H mH real "
    "imag grad data names is_mps is_xpu is_nested is_mkldnn".split()
)
_TENSOR_DENIED = frozenset(
    "register_hook register_post_accumulate_grad_hook retain_grad data_ptr numpy tolist item storage untyped_storage share_memory_ "
    "is_shared pin_memory is_pinned resize_ set_ __array__ __dlpack__ __reduce_ex__ grad_fn _version _base storage_offset".split()
) - {
    "item",
    "tolist",
    "numpy",
    "storage_offset",
}  # those are seen where values are read; an offset is a fact of a view
_STATE = frozenset(
    {"parameters", "named_parameters", "buffers", "named_buffers", "children", "named_children", "modules", "named_modules",
     "get_submodule", "get_parameter", "get_buffer", "extra_repr", "_get_name", "zero_grad", "forward", "__call__", "__getitem__",
     "__len__", "__iter__", "__contains__", "items", "keys", "values", "state_dict", "requires_grad_"}
)  # fmt: skip


class _Scope:
    """What the copy of one function knows as its observer: the names of its globals and its closure."""

    __slots__ = ("_cells", "_globals", "_observer", "call", "change", "change_attribute", "change_item", "context", "each", "item",
                 "read", "set_item", "slice", "store", "whole")  # fmt: skip

    def __init__(self, observer: Observer, function: types.FunctionType) -> None:
        self._observer = observer
        self._globals = function.__globals__
        self._cells = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )
        for name in self.__slots__[3:]:
            setattr(self, name, getattr(observer, name))

    def name(self, name: str, value: Any) -> Any:
        """A global or builtin that was read."""
        if self._observer.active:
            self._observer.saw_name(self._globals, name, value)
        return value

    def free(self, name: str, value: Any) -> Any:
        """A variable of the function around that was read."""
        if self._observer.active:
            self._observer.saw_cell(self._cells[name], name, value)
        return value


class Observer:
    """One recorded run."""

    def __init__(self, *, strict: bool) -> None:
        self.guards = Guards()
        self.reason = ""
        self.where = ""
        self.active = True
        self.strict = strict
        self.recorder = Recorder(functools.partial(self.stop, quiet=True))
        self.recorder.line = self._line
        self.touches_gradients = False  # whether .grad of anything may be read or written
        self.joint: Any = None  # how the results were differentiated, if they take part in a graph
        self.consumed: set[int] = set()  # nodes that a backward went through
        self.given: dict[
            int, Any
        ] = {}  # containers among the arguments, whose contents the key of the call says
        self._old: dict[int, Any] = {}
        self._codes: set[types.CodeType] = set()
        self._copies: dict[types.FunctionType, types.FunctionType] = {}
        self._trees: set[int] = set()
        self._walked: set[int] = set()
        self.rates: list[tuple[dict[str, Any], int]] = []
        self.slice = slice

    # ---- the end of a recording ----

    def stop(self, reason: str, *, passing: bool = False, quiet: bool = False) -> None:
        """There will be no graph, because of this; `quiet` where an exception has no way to the program."""
        if not self.active:
            return
        self.active = self.recorder.active = False
        self.reason, self.where = (_PASSING if passing else "") + reason, self._line()
        if self.strict and not passing and not quiet:
            raise Stop(
                f"fullgraph=True, but there is no graph of all: {reason}{self.where and f' ({self.where})'}"
            )

    def _line(self) -> str:
        frame: Any = sys._getframe(1)
        while frame is not None:
            if frame.f_code in self._codes:
                return f"{frame.f_code.co_filename}:{frame.f_lineno}"
            frame = frame.f_back
        return ""

    def profile(self, frame: Any, event: str, argument: Any) -> None:
        """Hook of sys.setprofile: code that runs although nobody observes it."""
        if event != "call" or not self.active:
            return
        code = frame.f_code
        if code in self._codes:
            return
        module = frame.f_globals.get("__name__", "")
        if not is_known_code(code, module):
            reason = f"{module}.{code.co_qualname} runs, and what it reads is not seen"
            self.stop(reason, passing=_is_import(frame))

    # ---- what is old ----

    def is_old(self, value: Any) -> bool:
        """Whether it was there before the run, as far as anybody saw."""
        return id(value) in self._old

    def may_change(self, value: Any) -> bool:
        """Whether a change of it goes unseen: it is of this run."""
        return id(value) not in self._old and id(value) not in self.given

    def mark(self, value: Any) -> None:
        """A value that was read from something old, and is guarded there."""
        if is_immutable(value) or id(value) in self._old:
            return
        self._old[id(value)] = value
        if isinstance(value, Tensor):
            if is_plain_tensor(value):
                self.recorder.add_input("kept", value, value)
            else:
                self.stop(f"it reads a tensor of the type {type(value).__name__}")
        elif isinstance(value, tuple | frozenset):
            for entry in value:
                self.mark(entry)
        elif not self._has_open_state(value):
            self.stop(
                f"it reads a {type(value).__module__}.{type(value).__qualname__}, whose state is not seen"
            )

    def _has_open_state(self, value: Any) -> bool:
        if isinstance(value, (*CONTAINERS, type, types.ModuleType, types.MethodType)):
            return True
        if isinstance(value, functools.partial):
            return True
        if isinstance(
            value,
            types.FunctionType
            | types.BuiltinFunctionType
            | types.MethodWrapperType
            | types.WrapperDescriptorType,
        ):
            return True
        if isinstance(
            value, types.MethodDescriptorType | types.ClassMethodDescriptorType | _core.Operator
        ):
            return True
        if isinstance(value, nn.Module | taeda.Generator) or hasattr(value, "param_groups"):
            return True
        if isinstance(value, types.GenericAlias | types.UnionType) or type(value).__module__ in (
            "typing",
            "taeda._parts",
        ):
            return True
        return type(value) is object or is_plain_instance(value)

    def contents(self, container: Any, *, deep: bool = True) -> None:
        """Guard what an old container holds, and what the containers in it hold: Python unpacks and compares those unseen."""
        if isinstance(container, tuple | frozenset):
            if deep:
                self._inner(container)
            return
        if not self.is_old(container) or id(container) in self._walked:
            return
        if deep:
            self._walked.add(id(container))
        if isinstance(container, set):
            if not all(is_immutable(v) for v in container):
                self.stop("it reads a set of objects")
            self.guards.contents(container)
            return
        self.guards.contents(container)
        entries = [*container, *(container.values() if isinstance(container, dict) else ())]
        for value in entries:
            self.mark(value)
        if deep:
            self._inner(entries)

    def _inner(self, entries: Any) -> None:
        for value in entries:
            if isinstance(value, (*CONTAINERS, tuple)):
                self.contents(value)

    def _all_of(self, value: Any, depth: int = 4) -> None:
        """Guard whatever known code may read of this argument."""
        if isinstance(value, Tensor) or is_immutable(value):
            return
        if isinstance(value, nn.Module):
            self.tree(value)
        elif _is_optimizer(value):
            self.optimizer(value)
        elif isinstance(value, tuple | list | dict) and depth:
            if isinstance(value, CONTAINERS):
                self.contents(value)
            for entry in list(value.values() if isinstance(value, dict) else value):
                self._all_of(entry, depth - 1)
        elif (
            self.is_old(value)
            and is_plain_instance(value)
            and not is_library(type(value).__module__)
        ):
            self.stop(f"the library reads a {type(value).__qualname__}")

    def tree(self, module: nn.Module) -> None:
        """Guard a module and all below it, and know their tensors."""
        if id(module) in self._trees:
            return
        for inner in module.modules():
            self._trees.add(id(inner))
            self.module(inner)

    def module(self, module: nn.Module) -> None:
        """Guard one module, and know its tensors."""
        if id(module) in self.guards.modules:
            return
        self._old[id(module)] = module
        self.guards.module(module)
        for value in list(module.__dict__.values()):
            if isinstance(value, Tensor):
                self.mark(value)

    def optimizer(self, optimizer: Any) -> None:
        """Guard groups and states of an optimizer, and know their tensors."""
        if id(optimizer) in self._trees:
            return
        self._trees.add(id(optimizer))
        self._old[id(optimizer)] = optimizer
        for name in ("step", "zero_grad"):
            self.guards.attribute(type(optimizer), name, getattr(type(optimizer), name))
        attributes = optimizer.__dict__
        self._old[id(attributes)] = attributes
        self.contents(attributes, deep=False)
        for value in list(attributes.values()):
            if isinstance(value, dict | list):
                self.contents(value, deep=False)
        groups, state = attributes.get("param_groups", ()), attributes.get("state", {})
        for group in groups:
            rate = group.get("lr")
            if type(rate) is float:  # guarded by `rates_settled`, or read in each run
                self.rates.append((group, len(self.recorder.graph.steps)))
                self.guards.contents(group, without="lr")
                for value in [*group, *group.values()]:
                    self.mark(value)
            else:
                self.contents(group, deep=False)
            for value in list(group.values()):
                if isinstance(value, dict | list):
                    self.contents(value, deep=False)
        for entry in list(state.values()):
            if isinstance(entry, dict | list):
                self.contents(entry, deep=False)
        for name, value in attributes.items():
            if "hook" in name and value:
                self.stop(f"the optimizer has hooks ({name})")

    def rates_settled(self) -> None:
        """Learning rates that only fused rows got are inputs of the graph; others are guarded."""
        for group, first in self.rates:
            if not self.recorder.add_rate(group, first):
                self.guards.item(group, "lr", group["lr"])

    # ---- names ----

    def saw_name(self, space: dict[str, Any], name: str, value: Any) -> None:
        if name in space:
            self.guards.variable(space, name, value)
            self.mark(value)
        else:
            self.guards.no_variable(space, name)

    def saw_cell(self, cell: Any, name: str, value: Any) -> None:
        if id(cell) in self._own_cells:
            return
        self.guards.cell(cell, name, value)
        self.mark(value)

    _own_cells: frozenset[int] = frozenset()

    # ---- attributes ----

    def read(self, owner: Any, name: str) -> Any:
        """owner.name"""
        if not self.active:
            return getattr(owner, name)
        kind = type(owner)
        getter = _property(kind, name)
        if (
            getter is not None
            and not isinstance(owner, Tensor)
            and not is_library(getter.__module__ or "")
        ):
            return self.call(getter, owner)
        try:
            value = getattr(owner, name)
        except AttributeError:
            if self.active and self.is_old(owner):
                self.guards.absent(owner, name)
            raise
        if self.active:
            self._saw_attribute(owner, kind, name, value)
        return value

    def _saw_attribute(self, owner: Any, kind: type, name: str, value: Any) -> None:
        if isinstance(owner, Tensor):
            self._saw_of_tensor(owner, name, value)
        elif isinstance(owner, nn.Module):
            self._saw_of_module(owner, kind, name, value)
        elif (
            isinstance(owner, CONTAINERS)
            or is_immutable(owner)
            or isinstance(owner, tuple | frozenset)
        ):
            return
        elif self.is_old(owner) or isinstance(owner, type | types.ModuleType):
            if _is_optimizer(owner):
                self.optimizer(owner)
            self.guards.attribute(owner, name, value)
            self.mark(value)

    def _saw_of_tensor(self, owner: Tensor, name: str, value: Any) -> None:
        if name in _TENSOR_FACTS:
            self.touches_gradients |= name == "grad"
            if name == "grad" and value is not None and self.recorder.slot_of(value) is None:
                self.stop("it reads a gradient that came from elsewhere")
            return
        if name in _TENSOR_DENIED or not callable(value):
            self.stop(f"it reads Tensor.{name}")
        elif name in owner.__dict__:
            self.stop(f"it reads the attribute {name} that somebody gave a tensor")

    def _saw_of_module(self, owner: nn.Module, kind: type, name: str, value: Any) -> None:
        self.module(owner)
        if name in owner.__dict__:
            self.mark(value)
            return
        found = getattr(kind, name, None)
        self.guards.attribute(kind, name, found)
        if not isinstance(value, types.MethodType):
            self.mark(value)

    def store(self, owner: Any, name: str, value: Any) -> None:
        """owner.name = value"""
        if not self.active:
            setattr(owner, name, value)
            return
        if isinstance(owner, Tensor):
            self.touches_gradients = True
            if name != "grad":
                self.stop(f"it stores to Tensor.{name}")
            elif id(owner) not in self.recorder._slots:
                self.mark(owner)
            setattr(owner, name, value)
            return
        known_old = self.is_old(owner) or isinstance(owner, nn.Module | type | types.ModuleType)
        if known_old and not self._stores_the_same(owner, name, value):
            self.stop(f"it stores to {type(owner).__name__}.{name}", passing=_sets_up(owner, name))
        elif not known_old and _setter(type(owner), name):
            self.stop(f"a store to {type(owner).__name__}.{name} runs code")
        setattr(owner, name, value)

    def _stores_the_same(self, owner: Any, name: str, value: Any) -> bool:
        found = getattr(owner, "__dict__", {}).get(name, self)
        if found is self or not same_value(found, value):
            return False
        self._saw_attribute(owner, type(owner), name, found)
        return True

    def change_attribute(self, owner: Any, name: str, op: str, value: Any) -> None:
        """owner.name += value"""
        self.store(owner, name, self.change(op, self.read(owner, name), value))

    def change(self, op: str, target: Any, value: Any) -> Any:
        """target += value"""
        if self.active and not isinstance(target, Tensor):
            if not self.may_change(target) and isinstance(target, CONTAINERS):
                self.stop("it changes a container that was there before")
            self.whole(target)
            self.whole(value)
        return getattr(operator, _INPLACE[op])(target, value)

    # ---- items ----

    def item(self, owner: Any, key: Any) -> Any:
        """owner[key]"""
        kind: Any = type(owner)
        if not self.active or isinstance(owner, Tensor | tuple | str | bytes | range):
            return owner[key]
        if isinstance(owner, CONTAINERS) and kind.__getitem__ in _C_GETITEM:
            return self._item_of_container(owner, key)
        read: Any = owner
        if isinstance(owner, type):  # list[int]
            return read[key]
        if isinstance(owner, nn.Module):
            self.tree(owner)
            value = read[key]
            self.mark(value)
            return value
        if owner is os.environ:
            return self.call(owner.__getitem__, key)
        getter = getattr(type(owner), "__getitem__", None)
        if isinstance(getter, types.FunctionType):
            return self.call(getter, owner, key)
        if self.is_old(owner):
            self.stop(f"it reads an item of a {type(owner).__name__}")
        return owner[key]

    def _item_of_container(self, owner: Any, key: Any) -> Any:
        if not self.is_old(owner):
            return owner[key]
        if isinstance(owner, dict) and key not in owner:
            self.contents(owner)
            if hasattr(type(owner), "__missing__"):
                self.stop("it makes an entry of a dict that was there before")
            return owner[key]
        value = owner[key]
        if isinstance(key, slice):
            self.contents(owner)
            return value
        if is_immutable(key) or self.is_old(key):
            self.guards.item(owner, key, value)
            self.mark(value)
        else:
            self.stop(f"it looks up a {type(key).__name__} in a dict that was there before")
        return value

    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        """owner[key] = value"""
        if self.active and not isinstance(owner, Tensor):
            self._sets_item(owner, key, value)
        owner[key] = value

    def _sets_item(self, owner: Any, key: Any, value: Any) -> None:
        if not self.may_change(owner):
            if (
                self.is_old(owner)
                and isinstance(owner, dict)
                and key in owner
                and same_value(owner[key], value)
            ):
                self._item_of_container(owner, key)
                return
            setting_up = isinstance(owner, dict) and key not in owner
            self.stop("it stores into a container that was there before", passing=setting_up)
        elif not isinstance(owner, CONTAINERS):
            self.stop(f"it stores an item of a {type(owner).__name__}")

    def change_item(self, owner: Any, key: Any, op: str, value: Any) -> None:
        """owner[key] += value"""
        self.set_item(owner, key, self.change(op, self.item(owner, key), value))

    # ---- what looks at all of a value ----

    def each(self, value: Any) -> Any:
        """The value, which is walked through."""
        if not self.active or isinstance(value, Tensor) or is_immutable(value):
            return value
        if isinstance(value, (*CONTAINERS, tuple)):
            self.contents(value)
        elif isinstance(value, nn.Module):
            self.tree(value)
        elif self.is_old(value) and not isinstance(value, frozenset):
            self.stop(f"it walks through a {type(value).__name__}")
        return value

    def whole(self, value: Any) -> Any:
        """The value, which is compared, tested or formatted."""
        if not self.active or isinstance(value, Tensor) or is_immutable(value):
            return value
        if isinstance(value, CONTAINERS) and self.is_old(value):
            self._all_of(value)
        return value

    def context(self, value: Any) -> Any:
        """The value, which is entered by `with`; code of the user in it is seen by the profile hook."""
        return value

    # ---- calls ----

    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """function(*args, **kwargs)"""
        if not self.active:
            return function(*args, **kwargs)
        if function is os.getenv or getattr(function, "__self__", None) is os.environ:
            return self._call_query(function, args, kwargs)
        if isinstance(function, types.MethodType):
            owner = function.__self__
            if _is_optimizer(owner) or isinstance(owner, nn.Module):
                self._before_method(owner, function)
            return self.call(function.__func__, owner, *args, **kwargs)
        if isinstance(function, types.FunctionType):
            return self._call_python(function, args, kwargs)
        if isinstance(function, functools.partial):
            return self.call(
                function.func, *function.args, *args, **{**function.keywords, **kwargs}
            )
        if isinstance(function, type):
            return self._call_type(function, args, kwargs)
        if isinstance(function, nn.Module):
            return function(*args, **kwargs)  # Module.__call__ comes back here
        original = getattr(function, "__taeda_original__", None)
        if original is not None:
            return self.call(original, *args, **kwargs)
        method = _static(type(function), "__call__")
        if isinstance(method, types.FunctionType):
            return self._call_python(method, (function, *args), kwargs)
        return self._call_c(function, args, kwargs)

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
        """The step of an optimizer that has a schedule: it notes that it was called, which changes nothing but the first time."""
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
        if hasattr(function, "_wrapped_by_lr_sched"):
            self._before_noted_step(function)
        known = is_known_code(function.__code__, function.__globals__.get("__name__", ""))
        mixin = module in ("_collections_abc", "collections.abc", "collections") and any(
            self.is_old(a) for a in args[:1]
        )
        if (known and not mixin) or module.startswith("taeda."):
            for value in (*args, *kwargs.values()):
                self._all_of(value)
            if module.startswith(_GRADIENTS) or function.__name__ in ("zero_grad", "backward"):
                self.touches_gradients = True
            if function is _backward:
                self._note_backward(args, kwargs)
            return function(*args, **kwargs)
        return self.copy(function)(*args, **kwargs)

    def copy(self, function: types.FunctionType) -> types.FunctionType:
        """The instrumented copy of a function of the user; itself, and the recording ends, if there is none."""
        if function.__code__ in self._codes:
            return function  # defined inside of a copy
        known = self._copies.get(function)
        if known is not None:
            return known
        sys.setprofile(None)
        try:
            code = copy_of(function.__code__)
        except CannotCopy as error:
            self.stop(f"{function.__qualname__} has no copy: {error}")
            return function
        finally:
            sys.setprofile(self.profile)
        self.guards.function(function)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.mark(value)
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        cells["__observer__"] = types.CellType(_Scope(self, function))
        made = types.FunctionType(
            code, function.__globals__, function.__name__, function.__defaults__, tuple(cells[n] for n in code.co_freevars)
        )  # fmt: skip
        made.__kwdefaults__ = function.__kwdefaults__
        self._codes.update(_all_codes(code))
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
            return kind(*args, **kwargs)
        if is_library(kind.__module__):
            if issubclass(kind, nn.Module) or _is_optimizer_type(kind):
                self.stop(f"it makes a {kind.__qualname__}")
            for value in (*args, *kwargs.values()):
                self._all_of(value)
            return kind(*args, **kwargs)
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
            return kind(*args, **kwargs)
        made = kind.__new__(kind)
        self.call(init, made, *args, **kwargs)
        return made

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
            if function.__name__ in _TENSOR_DENIED:
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
            if isinstance(value, types.GeneratorType):
                continue
            if function not in (isinstance, issubclass, callable, type):
                self.each(value)
                self.whole(value)
        args = tuple(self._calling(a) for a in args)
        return function(*args, **{k: self._calling(v) for k, v in kwargs.items()})

    def _calling(self, value: Any) -> Any:
        """A function of the user as an argument: its copy is called."""
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
        args = tuple(self._calling(a) if name == "sort" else a for a in args)
        return function(*args, **{k: self._calling(v) for k, v in kwargs.items()})

    # ---- modules ----

    def call_module(
        self, module: nn.Module, args: Any, kwargs: Any, plain: Callable[..., Any]
    ) -> Any:
        """Module.__call__ of a recorded run."""
        if not self.active:
            return plain(module, *args, **kwargs)
        self.module(module)
        forward = module.forward
        function = getattr(forward, "__func__", forward)
        if module._hooked:
            self.stop(f"{type(module).__name__} has hooks")
        if not self.active or is_library(getattr(function, "__module__", None) or ""):
            self.tree(module) if self.active else None
            for value in (*args, *kwargs.values()):
                self._all_of(value)
            return plain(module, *args, **kwargs)
        try:
            return self.call(forward, *args, **kwargs)
        except Exception as error:
            from taeda.nn.modules._place import name_module

            name_module(error, module)
            raise


_C_GETITEM: set[Any] = {kind.__getitem__ for kind in (list, dict, collections.deque)}
_INPLACE = {
    "add": "iadd", "sub": "isub", "mul": "imul", "truediv": "itruediv", "floordiv": "ifloordiv", "mod": "imod", "pow": "ipow",
    "matmul": "imatmul", "and_": "iand", "or_": "ior", "xor": "ixor", "lshift": "ilshift", "rshift": "irshift",
}  # fmt: skip
_STATE_FUNCTIONS: frozenset[Any] = frozenset({_core._set_grad_enabled, _core.is_grad_enabled})
#: code that knows of .grad
_GRADIENTS = ("taeda.autograd", "taeda.optim", "taeda.nn.utils", "taeda.utils")
_backward = taeda.Tensor.backward


def _is_optimizer(value: Any) -> bool:
    return _is_optimizer_type(type(value))


def _is_optimizer_type(kind: type) -> bool:
    return any(
        base.__module__ == "taeda.optim.optimizer" and base.__name__ == "Optimizer"
        for base in kind.__mro__
    )


def _is_import(frame: Any) -> bool:
    """Whether the code runs because a module is loaded, which happens once."""
    while frame is not None:
        if (
            frame.f_code.co_name == "<module>"
            and frame.f_back is not None
            and "importlib" in frame.f_back.f_code.co_filename
        ):
            return True
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            return True
        frame = frame.f_back
    return False


def _all_codes(code: types.CodeType) -> list[types.CodeType]:
    found = [code]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _all_codes(constant)
    return found


def _static(kind: type, name: str) -> Any:
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def _property(kind: type, name: str) -> types.FunctionType | None:
    """The Python function behind a property, if `name` is one."""
    found = _static(kind, name)
    getter = found.fget if isinstance(found, property) else None
    return getter if isinstance(getter, types.FunctionType) else None


def _setter(kind: type, name: str) -> bool:
    if _static(kind, name) is not None and hasattr(type(_static(kind, name)), "__set__"):
        return not isinstance(_static(kind, name), types.MemberDescriptorType)
    return getattr(kind, "__setattr__", None) is not object.__setattr__


def _sets_up(owner: Any, name: str) -> bool:
    """Whether a store makes an attribute that was not there: programs do so once."""
    return not hasattr(owner, name) or getattr(owner, name) is None
