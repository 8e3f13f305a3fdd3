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

from types import TracebackType
from typing import Any

from taeda import _dispatch

__all__ = ["TorchDispatchMode"]


class TorchDispatchMode:
    """Sees every operator that runs in its `with` block, after autograd has recorded it.

    A subclass defines `__torch_dispatch__(self, func, types, args=(), kwargs=None)`: `func` is an overload of `taeda.ops`, args
    and kwargs are as its schema has them, without what equals a default. While it runs the mode is off and nothing is
    recorded; calling `func` goes to the next mode outwards, then to the kernel. An operator that is written in others is not
    seen, those are. The in-place form of an operator arrives as the operator, whose result is written afterwards.
    """

    def __torch_dispatch__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no __torch_dispatch__")

    def __enter__(self) -> TorchDispatchMode:
        _dispatch.push_dispatch_mode(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _dispatch.pop_dispatch_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchDispatchMode:
        """A new mode, to be entered by `with`."""
        return cls(*args, **kwargs)
