"""A tensor of a module exchanged by its name, without checks of registration, as libraries do it
around a call of the module.
"""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from ..modules.module import Module

__all__ = ["swap_tensor"]

_NONE: Any = object()


def swap_tensor(
    module: Module, name: str, tensor: Tensor | None, allow_missing: bool = False
) -> Any:
    """Put a tensor where the parameter, buffer or attribute `name` is, and return what was there.

    The kind stays: under the name of a parameter any tensor is taken, also one with a history.

    >>> from taeda.nn.utils._named_member_accessor import swap_tensor
    >>> layer = taeda.nn.Linear(1, 1)
    >>> old = swap_tensor(layer, "weight", taeda.zeros(1, 1))
    >>> layer.weight, type(old).__name__
    (tensor([[0.]]), 'Parameter')

    TypeError for what is no module or no tensor; KeyError for a name with a dot; AttributeError for
    one that the module lacks, unless `allow_missing`.
    """
    _check(module, name, tensor)
    tables: tuple[Any, ...] = (module._parameters, module._buffers)
    for table in tables:
        if name in table:
            before, table[name] = table[name], tensor
            return before
    before = getattr(module, name, _NONE)
    if before is _NONE and not allow_missing:
        raise AttributeError(f"{type(module).__name__} has no attribute {name!r}")
    if before is not _NONE and not isinstance(before, (Tensor, type(None))):
        raise TypeError(f"attribute {name!r} is no tensor, but {type(before).__name__}")
    object.__setattr__(module, name, tensor)
    return None if before is _NONE else before


def _check(module: Any, name: str, tensor: Any) -> None:
    if not isinstance(module, Module):
        raise TypeError(f"swap_tensor: wanted a module, got {type(module).__name__}")
    if tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(f"swap_tensor: wanted a tensor or None, got {type(tensor).__name__}")
    if not name or "." in name:
        raise KeyError(f"tensor name must be that of a member, without a dot: {name!r}")
