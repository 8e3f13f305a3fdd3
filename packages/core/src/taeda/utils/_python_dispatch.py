"""Modes that see what operators run, below the derivative.

>>> import taeda
>>> class Names(TorchDispatchMode):
...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
...         print(func)
...         return func(*args, **(kwargs or {}))
>>> x = taeda.ones(2)
>>> with Names():
...     y = (x * 2).sum()
aten.mul.Tensor
aten.sum.default
"""

from __future__ import annotations

from typing import Any

from taeda._layers import Mode, dispatch_modes

__all__ = ["TorchDispatchMode"]


class TorchDispatchMode(Mode):
    """Sees every operator that runs in its `with` block, after autograd has recorded it.

    A subclass defines `__torch_dispatch__(self, func, types, args=(), kwargs=None)`: `func` is an overload of `taeda.ops`, args
    and kwargs are as its schema has them, without what equals a default. While it runs the mode is off and nothing is
    recorded; calling `func` goes to the next mode outwards, then to the kernel. An operator that is written in others is not
    seen, those are. The in-place form of an operator arrives as the operator, whose result is written afterwards.
    """

    _stack = dispatch_modes

    def __torch_dispatch__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no __torch_dispatch__")
