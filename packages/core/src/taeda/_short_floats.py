"""Functions of several steps on float16, bfloat16 and complex32: computed in float32, rounded once.

Each operation of core does so by itself; written one after the other they round every result in
between, which may also leave the range of 16 bits where the end does not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import taeda
from taeda import Tensor

__all__ = ["rounded_once", "widened"]

F = TypeVar("F", bound=Callable[..., Any])

_WIDE = {
    taeda.float16: taeda.float32,
    taeda.bfloat16: taeda.float32,
    taeda.complex32: taeda.complex64,
}


def widened(value: Any) -> Any:
    """A tensor of a short floating type in the type that such are computed in; others as they are."""
    return value.to(_WIDE[value.dtype]) if getattr(value, "dtype", None) in _WIDE else value


def rounded_once(function: F) -> F:
    """`function` with its short tensors widened, and its result in the type that all have together."""

    @wraps(function)
    def computed(*args: Any, **kwargs: Any) -> Any:
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
        if not any(t.dtype in _WIDE for t in tensors):
            return function(*args, **kwargs)
        dtype = tensors[0].dtype if len(tensors) == 1 else taeda.result_type(*tensors[:2])
        wide = {name: widened(value) for name, value in kwargs.items()}
        made = function(*map(widened, args), **wide)
        return made.to(dtype) if dtype in _WIDE else made

    return computed  # type: ignore[return-value]  # of the same signature
