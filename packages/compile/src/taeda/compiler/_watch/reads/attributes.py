"""Attributes: read, stored, changed in place."""

from __future__ import annotations

import collections
import enum
import functools
import operator
import types
from typing import Any

from taeda import Tensor, nn

from ..._kinds import (
    CONTAINERS,
    WRITTEN,
    is_immutable,
    is_library,
    is_tensor_method,
    static,
)
from ..callers import back
from ..guards import same_value
from .optimizers import is_optimizer
from .wholes import Wholes

__all__ = ["INPLACE", "Attributes"]


_TENSOR_FACTS = frozenset(
    "shape dtype device layout ndim itemsize nbytes requires_grad is_leaf is_cpu is_cuda is_meta "
    "is_sparse is_quantized T mT H mH real "
    "imag grad data names is_mps is_xpu is_nested is_mkldnn".split()
)
INPLACE: dict[str, str] = {
    "add": "iadd", "sub": "isub", "mul": "imul", "truediv": "itruediv", "floordiv": "ifloordiv",
    "mod": "imod", "pow": "ipow",
    "matmul": "imatmul", "and_": "iand", "or_": "ior", "xor": "ixor", "lshift": "ilshift",
    "rshift": "irshift",
}  # fmt: skip


_Named = collections.namedtuple("_Named", "entry")
#: what a class holds whose reads are seen, or give what the object holds
_SEEN_IN_CLASSES = (
    types.FunctionType, staticmethod, classmethod, types.MemberDescriptorType,
    types.GetSetDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.ClassMethodDescriptorType, functools.partialmethod, type(vars(_Named)["entry"]),
)  # fmt: skip
_PLAIN = (tuple, frozenset)
_OF_ALL = frozenset({"__class__", "__dict__", "__doc__", "__weakref__"})


class Attributes(Wholes):
    """Sees attributes."""

    def read(self, owner: Any, name: str) -> Any:
        """owner.name"""
        if type(owner) is types.FrameType and name == "f_back":
            return back(owner.f_back)
        if not self.active:
            return getattr(owner, name)
        if isinstance(owner, types.ModuleType):
            owner = self._behind(owner, name)
        kind = type(owner)
        if isinstance(owner, Tensor):
            return self._read_of_tensor(owner, name)
        getter = _property(owner, name)
        if getter is not None and not is_library(getter.__module__ or ""):
            self.klass(kind)
            if kind is super:
                owner = getattr(owner, "__self__")  # noqa: B009 - a checker knows no attribute of `super`
            return self.call(getter, owner)
        maker = _maker(owner, kind, name)
        if maker is not None:
            return self._read_by(maker, owner, name)
        try:
            value = getattr(owner, name)
        except AttributeError:
            if self.active:
                self._saw_no_attribute(owner, name)
            raise
        if self.active:
            self._saw_attribute(owner, kind, name, value)
        return value

    def _behind(self, owner: types.ModuleType, name: str) -> types.ModuleType:
        """The module that another one asks for what it does not hold itself: `torch` is such a one."""
        while name not in (space := owner.__dict__):
            if "_taeda" not in space or not hasattr(space["_taeda"], name):
                break
            self.guards.no_variable(space, name)
            owner = space["_taeda"]
        return owner

    def _read_of_tensor(self, owner: Tensor, name: str) -> Any:
        try:
            value = getattr(owner, name)
        except AttributeError:
            self.stop(f"it asks a tensor for {name}, which it has not")
            raise
        if self.active:
            self._saw_of_tensor(owner, name, value)
        return value

    def _read_by(self, maker: types.FunctionType, owner: Any, name: str) -> Any:
        """What the `__getattr__` of a class of the user gives for a name that is nowhere else."""
        self.klass(type(owner))
        table = getattr(owner, "__dict__", None)
        if table is not None and self.is_old(owner):
            self.guards.no_variable(table, name)
        return self.call(maker, owner, name)

    def _saw_no_attribute(self, owner: Any, name: str) -> None:
        if isinstance(owner, type | types.ModuleType) or self.is_old(owner):
            self.guards.absent(owner, name)
        else:
            self.klass(type(owner))

    def _saw_attribute(self, owner: Any, kind: type, name: str, value: Any) -> None:
        if isinstance(owner, nn.Module) and kind is not super:
            self._saw_of_module(owner, kind, name, value)
        elif kind is super:
            self._saw_of_super(owner, name, value)
        elif isinstance(owner, enum.Enum):  # a value by itself, but its attributes may change
            self.guards.attribute(owner, name, value)
            self.mark(value)
        elif isinstance(owner, type | types.ModuleType) or (
            not (is_immutable(owner) or type(owner) in _PLAIN) and self.is_old(owner)
        ):
            if is_optimizer(owner):
                self.optimizer(owner)
            self.guards.attribute(owner, name, value)
            self.mark(value)
        else:
            self._saw_of_class(owner, kind, name, value)

    def _saw_of_super(self, owner: Any, name: str, value: Any) -> None:
        """What a class further up says; a method of it is called on the object itself."""
        self.klass(owner.__self_class__)
        around = owner.__self_class__.__mro__
        above = around[around.index(owner.__thisclass__) + 1 :]
        found = [base for base in above if name in base.__dict__]
        if found:
            self.guards.attribute(found[0], name, getattr(found[0], name))
        if not isinstance(value, types.MethodType | types.MethodWrapperType):
            self.mark(value)

    def _saw_of_class(self, owner: Any, kind: type, name: str, value: Any) -> None:
        """What an object of this run has from its class, which is older."""
        if not kind.__flags__ & WRITTEN or is_library(kind.__module__):
            return
        self.klass(kind)
        if name == "__dict__" and id(owner) in self.given:
            self.stop("it reads the __dict__ of an argument")
        found = static(kind, name)
        if found is None and name not in getattr(owner, "__dict__", {}):
            if name not in _OF_ALL:
                self.stop(f"{kind.__qualname__}.{name} comes from a __getattr__")
        elif not hasattr(type(found), "__get__"):
            if name not in getattr(owner, "__dict__", {}):
                self.mark(value)
        elif not isinstance(found, _SEEN_IN_CLASSES):
            self.stop(f"{kind.__qualname__}.{name} is made by a {type(found).__qualname__}")

    def _saw_of_tensor(self, owner: Tensor, name: str, value: Any) -> None:
        if name in _TENSOR_FACTS:
            self.touches_gradients |= name == "grad"
            if name == "grad" and value is not None and self.recorder.slot_of(value) is None:
                self.stop("it reads a gradient that came from elsewhere")
            self.guards.attribute(Tensor, name, getattr(Tensor, name))
            return
        if name == "_version" and self.recorder.counts_alone(owner):
            return
        if name in owner.__dict__:
            self.stop(f"it reads the attribute {name} that somebody gave a tensor")
        elif not (is_tensor_method(name) or _is_of_user(name)):
            self.stop(f"it reads Tensor.{name}")
        else:
            self.guards.attribute(Tensor, name, getattr(Tensor, name, None))

    def _saw_of_module(self, owner: nn.Module, kind: type, name: str, value: Any) -> None:
        self.module(owner)
        self.klass(kind)
        if name == "__dict__":
            self.stop("it reads the __dict__ of a module")
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
        known_old = not self.may_change(owner) or isinstance(
            owner, nn.Module | type | types.ModuleType
        )
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
        return self.joined(getattr(operator, INPLACE[op])(target, value))


def _maker(owner: Any, kind: type, name: str) -> types.FunctionType | None:
    """The `__getattr__` in Python that Python will ask for this name."""
    if isinstance(owner, nn.Module | type | types.ModuleType) or kind is super:
        return None
    if static(kind, name) is not None or name in getattr(owner, "__dict__", ()):
        return None
    plain = isinstance(static(kind, "__getattribute__"), types.WrapperDescriptorType)
    found = static(kind, "__getattr__")
    of_user = isinstance(found, types.FunctionType) and not is_library(found.__module__ or "")
    return found if plain and of_user else None


def _is_of_user(name: str) -> bool:
    """Whether a program gave all tensors a method of this name."""
    found = static(Tensor, name)
    return isinstance(found, types.FunctionType) and not (found.__module__ or "").startswith(
        "taeda."
    )


def _property(owner: Any, name: str) -> types.FunctionType | None:
    """The Python function behind a property, if `name` is one."""
    kind = type(owner)
    if kind is super:
        around = owner.__self_class__.__mro__
        above = around[around.index(owner.__thisclass__) + 1 :]
        found = next((base.__dict__[name] for base in above if name in base.__dict__), None)
    else:
        found = static(kind, name)
    getter = found.fget if isinstance(found, property) else None
    return getter if isinstance(getter, types.FunctionType) else None


def _setter(kind: type, name: str) -> bool:
    if static(kind, name) is not None and hasattr(type(static(kind, name)), "__set__"):
        return not isinstance(static(kind, name), types.MemberDescriptorType)
    return getattr(kind, "__setattr__", None) is not object.__setattr__


def _sets_up(owner: Any, name: str) -> bool:
    """Whether a store makes an attribute that was not there: programs do so once."""
    found = static(type(owner), name)  # no question that may run code
    return getattr(owner, "__dict__", {}).get(name, found) is None
