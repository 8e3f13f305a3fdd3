"""Layers without the cost of their first values."""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """An instance whose parameters have arbitrary values; the class must take a `device` and initialise
    itself by `nn.init` alone. Raises RuntimeError otherwise.

    Args:
        module_cls: a class of modules.
        *args, **kwargs: what it is made with; `device` says where.

    >>> skip_init(taeda.nn.Linear, 2, 3).weight.shape
    taeda.Size([3, 2])
    """
    from ..modules.module import Module

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    final = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=final)
