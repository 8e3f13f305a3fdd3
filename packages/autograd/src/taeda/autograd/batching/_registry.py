"""Batching rules by the public function they stand for.

A rule is called as `rule(level, func, *args, **kwargs)` with the arguments of the call, some of
them Batched at `level`. It returns what `func` gives for all samples, tensors with the samples
along dimension 0. A rule that meets a form it does not know raises Decline (or TypeError, by its
own parameters): the call then runs sample by sample.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api.operators import CustomOpDef, OpOverload, OpOverloadPacket

__all__ = ["Decline", "custom_name", "dims_of", "key_of", "rule", "rules"]

Rule = Callable[..., Any]
rules: dict[str, Rule] = {}
_SPOKEN = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "invert": "bitwise_not",
    "truediv": "div", "floordiv": "floor_divide", "mod": "remainder",
    "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}  # fmt: skip


class Decline(Exception):
    """The rule does not cover this form of the call."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a function under the names of the public functions whose rule it is: sum,
    linalg.norm, nn.conv2d.
    """

    def register(function: Rule) -> Rule:
        for name in names:
            rules[name] = function
        return function

    return register


@functools.cache
def _keys() -> dict[Any, str]:
    """Public function, method or getter -> the name of its rule."""
    found: dict[Any, str] = {}
    for space, functions in _core.functions.items():
        prefix = f"{space}." if space and space not in ("nn", "functional") else ""
        for name, function in functions.items():
            found[function] = prefix + name
    for name, attribute in vars(Tensor).items():
        if inspect.isgetsetdescriptor(attribute) or isinstance(attribute, property):
            found[attribute.__get__] = f"get.{name}"
        elif inspect.isroutine(attribute):
            found[attribute] = _method_name(name)
    return found


def _method_name(name: str) -> str:
    if not (name.startswith("__") and name.endswith("__")):
        return name
    bare = name[2:-2]
    if bare in ("getitem", "setitem", "len", "bool", "float", "int", "index", "iter", "contains",
        "format", "deepcopy", "array", "complex"):  # fmt: skip
        return f"method.{bare}"
    return _SPOKEN.get(bare, bare)


def custom_name(func: Any) -> str | None:
    """ "mylib::scale" of an operator that was defined at run time, whose name may be that of a
    built-in one; None for others.
    """
    packet = getattr(func, "_overloadpacket", func)
    if isinstance(func, CustomOpDef):
        return func._qualname
    if isinstance(func, OpOverload):
        return None if func.namespace == "aten" else func.name()
    if isinstance(packet, OpOverloadPacket) and packet._namespace != "aten":
        text = next(iter(packet._texts.values()))
        return text if "::" in text else f"{packet._namespace}::{text}"
    return None


def key_of(func: Any) -> str:
    """The name under which a rule for `func` would stand."""
    own = custom_name(func)
    if own is not None:
        return own
    try:
        name = _keys().get(func)
    except TypeError:  # a getter that is made anew at each access has a hash of no use
        name = None
    if name is not None:
        return name
    owner = getattr(func, "__self__", None)
    if getattr(func, "__name__", "") in ("__get__", "__set__") and owner is not None:
        inner = getattr(getattr(owner, "fget", None), "__name__", "?")
        return f"{func.__name__.strip('_')}.{getattr(owner, '__name__', inner)}"
    packet = getattr(func, "_overloadpacket", func)  # the rules of mul are those of aten.mul.Tensor
    return _method_name(getattr(packet, "__name__", "?"))


def dims_of(dim: Any, rank: int) -> int:
    """A dimension counted from the front. IndexError as every function raises it."""
    if type(dim) is not int:
        raise Decline
    reach = max(rank, 1)
    if not -reach <= dim < reach:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-reach}, {reach - 1}], but got {dim})"
        )
    return dim % reach
