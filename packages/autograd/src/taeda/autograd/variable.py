"""`Variable`, which tensors were once wrapped in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda._core_api import runtime as core
from taeda._core_api import warn

__all__ = ["Variable"]


class _IsTensor(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, taeda.Tensor)


class _Engine:
    """What backward runs on, as far as old programs name it."""

    @staticmethod
    def queue_callback(callback: Callable[[], None]) -> None:
        """Call `callback` at the end of the backward that runs now. RuntimeError if none does."""
        core.queue_callback(callback)


class Variable(metaclass=_IsTensor):
    """`Variable(t)`: a tensor on the memory of `t` that no graph knows; with `requires_grad` a leaf.

    Every tensor is an instance. TypeError for what is no tensor. `volatile` does nothing any more.

    Args:
        data: a tensor (None: an empty one).
        requires_grad: whether the result is a leaf that gets a gradient (False).
        volatile: older option; True warns (False).
        name: taken, and not kept (None).

    >>> Variable(taeda.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    _execution_engine = _Engine()

    def __new__(  # type: ignore[misc]  # as the old class: it makes tensors
        cls,
        data: Any = None,
        requires_grad: bool = False,
        volatile: bool = False,
        _grad_fn: Any = None,
        name: str | None = None,
    ) -> taeda.Tensor:
        if data is not None and not isinstance(data, taeda.Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        if _grad_fn is not None:
            raise TypeError("Variable() takes no _grad_fn: operations make graphs")
        if volatile and requires_grad:
            raise ValueError("Variable can't be volatile and require_grad at the same time!")
        if volatile:
            warn("volatile was removed (Variable.volatile is always False): use no_grad()")
        made = taeda.empty(0) if data is None else data.detach()
        return made.requires_grad_() if requires_grad else made
