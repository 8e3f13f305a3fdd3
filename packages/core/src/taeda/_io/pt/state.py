"""BUILD: what an object is given after it was made. Only attributes that hold data."""

from __future__ import annotations

from argparse import Namespace
from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

from taeda import Tensor

from . import allowed, arrays, plain
from .context import Context
from .errors import RefusedPickle

__all__ = ["build", "set_attributes"]

_MODULE_VERSIONS = "_metadata"  # what a module's state_dict() carries beside its entries


def build(target: Any, given: Any, context: Context) -> None:
    """Give `target` its state; RefusedPickle if data has none of that kind."""
    if type(target) is OrderedDict:
        if not isinstance(given, dict) or not given.keys() <= {_MODULE_VERSIONS}:
            raise RefusedPickle("an OrderedDict has attributes other than _metadata")
        if given:
            target._metadata = given[_MODULE_VERSIONS]  # type: ignore[attr-defined] # as torch names it
    elif isinstance(target, arrays.DtypeRecord):
        target.set_state(given)
    elif type(target).__name__ == "ndarray":
        arrays.fill(target, given, context)
    elif isinstance(target, Tensor) and isinstance(given, tuple) and len(given) == 3:
        _set_old_state(target, given)
    elif isinstance(target, Tensor):
        set_attributes(target, given)
    elif type(target) in (Namespace, SimpleNamespace) or allowed.is_instance(target):
        allowed.fill(target, given)
    elif not isinstance(target, plain.Advice):
        raise RefusedPickle(f"a {type(target).__name__} is given attributes, and has none")


def _set_old_state(target: Tensor, given: tuple[Any, ...]) -> None:
    """(requires_grad, volatile, backward_hooks): how parameters were written before torch 0.4."""
    if type(given[0]) is not bool or given[2]:
        raise RefusedPickle("a parameter is given something else than requires_grad and no hooks")
    if target.is_leaf and (target.is_floating_point() or not given[0]):
        target.requires_grad_(given[0])


def set_attributes(target: Tensor, given: Any) -> Tensor:
    """Attributes that a program set on a tensor. None of them may hide what tensors have themselves."""
    if isinstance(given, tuple) and len(given) == 2 and given[1] in (None, {}):
        given = given[0]
    attributes: Any = given or {}
    if not isinstance(attributes, dict):
        raise RefusedPickle("a tensor is given attributes that have no plain names")
    for name, value in attributes.items():
        if not isinstance(name, str) or not name.isidentifier() or name.startswith("__"):
            raise RefusedPickle("a tensor is given attributes that have no plain names")
        if hasattr(type(target), name):
            raise RefusedPickle(f"a tensor is given an attribute in place of its own {name!r:.80}")
        target.__dict__[name] = value
    return target
