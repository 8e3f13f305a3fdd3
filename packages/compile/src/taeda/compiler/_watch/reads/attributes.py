"""Attributes: read, stored, changed in place."""

from __future__ import annotations

import enum
import operator
import types
from typing import Any

from taeda import Tensor, nn

from ..._kinds import CONTAINERS, is_immutable, is_library, static
from ..guards import same_value
from .optimizers import is_optimizer
from .wholes import Wholes

__all__ = ["TENSOR_DENIED", "Attributes"]


_TENSOR_FACTS = frozenset(
    "shape dtype device layout ndim itemsize nbytes requires_grad is_leaf is_cpu is_cuda is_meta "
    "is_sparse is_quantized T mT H mH real "
    "imag grad data names is_mps is_xpu is_nested is_mkldnn".split()
)
#: what is no fact of shapes; values are seen where they are read
TENSOR_DENIED = frozenset(
    "register_hook register_post_accumulate_grad_hook retain_grad data_ptr storage untyped_storage "
    "share_memory_ is_shared "
    "pin_memory is_pinned resize_ set_ __array__ __dlpack__ __reduce_ex__ grad_fn _version _base".split()
)
_INPLACE = {
    "add": "iadd", "sub": "isub", "mul": "imul", "truediv": "itruediv", "floordiv": "ifloordiv",
    "mod": "imod", "pow": "ipow",
    "matmul": "imatmul", "and_": "iand", "or_": "ior", "xor": "ixor", "lshift": "ilshift",
    "rshift": "irshift",
}  # fmt: skip


_SET_IN_CLASSES = (types.FunctionType, staticmethod, classmethod, property)
WRITTEN = 1 << 9  # the flag of classes that were made at run time: their attributes can be set


class Attributes(Wholes):
    """Sees attributes."""

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
            if self.active and isinstance(owner, Tensor):
                self.stop(f"it asks a tensor for {name}, which it has not")
            elif self.active and self.is_old(owner):
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
        elif isinstance(owner, enum.Enum):  # a value by itself, but its attributes may change
            self.guards.attribute(owner, name, value)
            self.mark(value)
        elif (
            isinstance(owner, CONTAINERS)
            or is_immutable(owner)
            or isinstance(owner, tuple | frozenset)
        ):
            self._saw_of_class(owner, kind, name)
        elif self.is_old(owner) or isinstance(owner, type | types.ModuleType):
            if is_optimizer(owner):
                self.optimizer(owner)
            self.guards.attribute(owner, name, value)
            self.mark(value)
        else:
            self._saw_of_class(owner, kind, name)

    def _saw_of_class(self, owner: Any, kind: type, name: str) -> None:
        """What an object of this run has from its class, which is older."""
        if name in getattr(owner, "__dict__", {}) or not kind.__flags__ & WRITTEN:
            return
        found = static(kind, name)
        plain = not hasattr(type(found), "__get__")  # others of C read a slot of the object
        if found is not None and (plain or isinstance(found, _SET_IN_CLASSES)):
            value = getattr(kind, name)
            self.guards.attribute(kind, name, value)
            self.mark(value)

    def _saw_of_tensor(self, owner: Tensor, name: str, value: Any) -> None:
        if name in _TENSOR_FACTS:
            self.touches_gradients |= name == "grad"
            if name == "grad" and value is not None and self.recorder.slot_of(value) is None:
                self.stop("it reads a gradient that came from elsewhere")
            return
        if name == "_version" and self.recorder.counts_alone(owner):
            return
        if name in TENSOR_DENIED or not callable(value):
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


def _property(kind: type, name: str) -> types.FunctionType | None:
    """The Python function behind a property, if `name` is one."""
    found = static(kind, name)
    getter = found.fget if isinstance(found, property) else None
    return getter if isinstance(getter, types.FunctionType) else None


def _setter(kind: type, name: str) -> bool:
    if static(kind, name) is not None and hasattr(type(static(kind, name)), "__set__"):
        return not isinstance(static(kind, name), types.MemberDescriptorType)
    return getattr(kind, "__setattr__", None) is not object.__setattr__


def _sets_up(owner: Any, name: str) -> bool:
    """Whether a store makes an attribute that was not there: programs do so once."""
    return not hasattr(owner, name) or getattr(owner, name) is None
