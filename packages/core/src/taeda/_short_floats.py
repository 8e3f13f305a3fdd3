"""Functions of several steps on float16, bfloat16 and complex32: computed in float32, rounded once.

Each operation of core does so by itself; written one after the other they round every result in
between, which may also leave the range of 16 bits where the end does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def _is_short(value: Any) -> bool:
    return getattr(value, "dtype", None) in _WIDE


def widened(value: Any) -> Any:
    """A tensor of a short floating type in the type that such are computed in; others as they are."""
    return value.to(_WIDE[value.dtype]) if _is_short(value) else value


def _together(tensors: Sequence[Tensor]) -> taeda.dtype:
    """The type of what is computed from all; of the later ones only those with dimensions count."""
    if len(tensors) == 1:
        return tensors[0].dtype
    common = taeda.result_type(*tensors[:2])
    for t in tensors[2:]:
        common = taeda.promote_types(common, t.dtype) if t.dim() else common
    return common


def rounded_once(function: F, of: int = 2) -> F:
    """`function` with its short tensors widened, its result in the type of the first `of` together."""

    @wraps(function)
    def computed(*args: Any, **kwargs: Any) -> Any:
        if not any(map(_is_short, args)) and not any(map(_is_short, kwargs.values())):
            return function(*args, **kwargs)
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
        dtype = _together(tensors[:of])
        wide = {name: widened(value) for name, value in kwargs.items()}
        made = function(*map(widened, args), **wide)
        return made.to(dtype) if dtype in _WIDE else made

    return computed  # type: ignore[return-value]  # of the same signature
