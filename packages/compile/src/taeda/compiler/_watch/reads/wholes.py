"""What looks at all of a value: a loop, a comparison, known code that it is given to."""

from __future__ import annotations

import functools
import types
from typing import Any

from taeda import Tensor, nn

from ..._kinds import CONTAINERS, WRITTEN, is_immutable, is_library, is_plain_instance
from .modules import Modules
from .optimizers import Optimizers, is_optimizer

__all__ = ["Wholes"]

DEPTH = 16  # of structures
_NUMBERS = (int, float, complex, str, bytes)  # Python shares some that are equal


class Wholes(Modules, Optimizers):
    """Guards all of a value."""

    def _all_of(self, value: Any, depth: int = DEPTH, *, objects: bool = True) -> None:
        """Guard whatever known code may read of this argument; without `objects` code that only
        compares, tests and formats: of an object of a class in Python it calls what the class says.
        """
        if isinstance(value, Tensor) or is_immutable(value) or not self.active:
            return
        if depth == 0:
            self.stop("it hands on a structure that is too deep to be looked at")
        elif isinstance(value, nn.Module):
            self.tree(value)
        elif is_optimizer(value):
            self.optimizer(value)
        elif isinstance(value, (*CONTAINERS, tuple, frozenset)):
            self._all_in(value, depth, objects)
        elif isinstance(value, functools.partial):
            self._all_in((value.func, value.args, value.keywords), depth, objects)
        elif isinstance(
            value, types.MethodType | types.BuiltinMethodType | types.MethodWrapperType
        ):
            self._all_of_method(value, depth)
        elif isinstance(value, types.SimpleNamespace):  # C compares and formats it
            self.mark(value.__dict__) if self.is_old(value) else None
            self._all_in(value.__dict__, depth, objects)
        elif objects and is_plain_instance(value):
            self._all_of_object(value, depth)
        elif not objects:
            self._operand(value)

    def _all_in(self, value: Any, depth: int, objects: bool) -> None:
        if id(value) in self._walking_all:
            return
        self._walking_all.add(id(value))
        self.contents(value, deep=False)
        for entry in [*value, *(value.values() if isinstance(value, dict) else ())]:
            self._all_of(entry, depth - 1, objects=objects)
        self._walking_all.discard(id(value))

    def _all_of_method(self, value: Any, depth: int) -> None:
        """A method that somebody may call unseen."""
        owner = value.__self__
        if isinstance(owner, CONTAINERS) and self.is_old(owner):
            self.stop(f"it hands on {value.__name__} of a container that was there before")
        elif not isinstance(owner, types.ModuleType | None):
            self._all_of(owner, depth - 1)

    def _all_of_object(self, value: Any, depth: int) -> None:
        if not self.is_old(value):
            self._all_in(tuple(getattr(value, "__dict__", {}).values()), depth, True)
        elif is_library(type(value).__module__):
            self.contents(value.__dict__, deep=False)
            self._all_in(tuple(value.__dict__.values()), depth, True)
        else:
            self.stop(f"the library reads a {type(value).__qualname__}")

    def each(self, value: Any) -> Any:
        """The value, which is walked through."""
        if not self.active or isinstance(value, Tensor) or is_immutable(value):
            return value
        if isinstance(value, (*CONTAINERS, tuple, frozenset)):
            self.contents(value)
        elif isinstance(value, nn.Module):
            self.tree(value)
        elif _can_be_walked(type(value)) and not self.may_change(value):
            self.stop(f"it walks through a {type(value).__name__}")
        return value

    def whole(self, value: Any) -> Any:
        """The value, which is compared, tested, formatted, or an operand."""
        if not self.active or isinstance(value, Tensor) or is_immutable(value):
            return value
        if isinstance(value, (*CONTAINERS, tuple, frozenset, types.SimpleNamespace)):
            self._all_of(value, objects=False)
        else:
            self._operand(value)
        return value

    def _operand(self, value: Any) -> None:
        """An object, of which Python asks its class how it is compared, tested or added."""
        kind: Any = type(value)
        if kind.__flags__ & WRITTEN:
            self.klass(kind)
        if isinstance(value, nn.Module):
            self.module(value)
        else:
            self.is_old(value)

    def identity(self, value: Any) -> Any:
        """The value, of which it is asked whether it is another one."""
        if self.active and id(value) in self.given:
            self.stop("it asks whether an argument is a certain container")
        elif self.active and type(value) in _NUMBERS:
            self.stop("it asks whether a number or a string is a certain object")
        return value

    def joined(self, value: Any) -> Any:
        """What `|` gave, of two dicts a new one."""
        if self.active and type(value) is dict:
            self.fresh(value)
        return value

    def context(self, value: Any) -> Any:
        """The value, which is entered by `with`; code of the user in it is seen by the profile hook."""
        return value


def _can_be_walked(kind: type) -> bool:
    return hasattr(kind, "__iter__") or hasattr(kind, "__getitem__")
