"""Exchange of two tensors, and names of objects."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

from taeda._layers import DisableTorchFunctionSubclass
from taeda._native import core as _core

if TYPE_CHECKING:
    from taeda import Tensor
else:
    Tensor = _core.Tensor

__all__ = ["set_module", "swap_tensors"]


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange two tensors: memory, gradient, history, attributes and type; each name then means
    what the other did.

    RuntimeError if something refers to one of them weakly, is a view of one, or a live graph refers
    to it; TypeError for what is no tensor.

    >>> import taeda
    >>> a, b = taeda.zeros(1), taeda.ones(2)
    >>> swap_tensors(a, b)
    >>> a, b
    (tensor([1., 1.]), tensor([0.]))
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"swap_tensors: {name} must be a Tensor, got {type(tensor).__name__}")
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
        if _is_viewed(tensor):
            raise RuntimeError(
                f"Cannot swap {name} because other tensors are views of it: they would be views of "
                "what it becomes"
            )
    first, second = type(t1), type(t2)
    if first is not second:  # before anything is exchanged: it may be refused
        try:
            t1.__class__ = second
            t2.__class__ = first
        except TypeError as error:
            t1.__class__ = first
            raise RuntimeError(
                f"Cannot swap t1 and t2 if they have different slots: {first.__name__} and {second.__name__}"
            ) from error
    try:
        t1._swap(t2)
    except BaseException:
        t1.__class__, t2.__class__ = first, second
        raise


def _is_viewed(tensor: Tensor) -> bool:
    """Whether some live tensor has this one as its base."""
    if _core.storage_owners(tensor) == 1:
        return False  # nearly always
    with DisableTorchFunctionSubclass():
        owners = _core.living_objects(gc.get_referrers, tensor)[0]
        views = (found for found in owners if isinstance(found, Tensor))
        return any(found._base is tensor for found in views)


def set_module(obj: Any, mod: str) -> None:
    """Let an object say that it comes from module `mod`. TypeError if that is no string.

    >>> def helper(): ...
    >>> taeda.utils.set_module(helper, "my.library")
    >>> helper.__module__
    'my.library'
    """
    if not isinstance(mod, str):
        raise TypeError(f"The mod argument should be a string, got {type(mod).__name__}")
    obj.__module__ = mod
