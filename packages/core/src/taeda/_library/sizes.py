"""Operators that give sizes: `taeda.ops.aten.sym_size` and the like, as graphs of any size name them,
and `_pin_memory`.

They compute nothing, so they are no rows of the table: a call asks the tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["SizeOperator", "find"]


class SizeOperator:
    """One such operator, or one overload of it."""

    def __init__(self, name: str, overloads: dict[str, Callable[..., Any]], text: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = "taeda.ops.aten"
        self._overloads, self._text = overloads, text
        for overload in overloads if "." not in name else ():
            one = SizeOperator(f"{name}.{overload}", overloads, f"{text}.{overload}")
            one._overloads = {overload: overloads[overload]}
            setattr(self, overload, one)

    def overloads(self) -> list[str]:
        """Names of the overloads."""
        return list(self._overloads)

    def __call__(self, self_: Any, *args: Any) -> Any:
        name = "int" if args else "default"
        if len(self._overloads) == 1:
            (name,) = self._overloads
        if name not in self._overloads:
            raise TypeError(f"{self._text} takes a tensor and a dimension")
        return self._overloads[name](self_, *args)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def __reduce__(self) -> Any:
        return find, (self.__name__,)


_KINDS: dict[str, dict[str, Callable[..., Any]]] = {
    "sym_size": {"default": lambda x: x.size(), "int": lambda x, dim: x.size(dim)},
    "sym_stride": {"default": lambda x: x.stride(), "int": lambda x, dim: x.stride(dim)},
    "sym_numel": {"default": lambda x: x.numel()},
    "sym_storage_offset": {"default": lambda x: x.storage_offset()},
    "_pin_memory": {"default": lambda x, device=None: x.pin_memory(device)},
}
_made: dict[str, SizeOperator] = {}


def find(name: str) -> Any:
    """`sym_size`, or an overload of it as `sym_size.int`; None for what is no such operator."""
    stem, _, overload = name.partition(".")
    if stem not in _KINDS:
        return None
    made = _made.setdefault(stem, SizeOperator(stem, _KINDS[stem], f"aten.{stem}"))
    return getattr(made, overload) if overload else made
