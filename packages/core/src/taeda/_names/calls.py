"""Calls whose arguments are names: dimensions by their names, and names for a new tensor.

The dispatcher comes here with the TypeError of a call that no overload takes, if there is text among
its arguments; calls without names pay nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from taeda import Tensor

from .._native import core as _core
from .dims import checked, give, place
from .flat import flatten, unflatten
from .rules import _tensors

__all__ = ["by_name", "place"]

#: parameters that are dimensions
_DIMS = frozenset(
    "dim dims dim0 dim1 axis axis0 axis1 source destination start_dim end_dim".split()
)
_WHOLE: dict[str, Callable[..., Any]] = {"flatten": flatten, "unflatten": unflatten}


@functools.cache
def _rows() -> dict[str, list[str]]:
    """The rows of each function, by its name."""
    rows: dict[str, list[str]] = {}
    for text, *_ in _core.op_rows():
        rows.setdefault(text.partition(".")[0], []).append(text)
    return rows


def by_name(function: Any, args: Any, kwargs: dict[str, Any], error: Exception) -> Any:
    """The call with numbers for names; `error` if names are not what it lacks, and where no tensor has
    names."""
    name = function.__name__
    rows = _rows().get(name, ())
    if "names" in kwargs and any(_core.op_names(row) == "MAKE" for row in rows):
        names = kwargs.pop("names")
        made = function(*args, **kwargs)
        return made if names is None else give(made, checked(names, made.dim()))
    if name in _WHOLE:
        return _WHOLE[name](*args, **kwargs)
    x = next((t for t in _tensors([*args, *kwargs.values()]) if _core.names_of(t)), None)
    numbered = x is not None and _numbered(rows, x, args, kwargs)
    if not numbered:
        raise error from None
    return function(*numbered[0], **numbered[1])


def _numbered(
    rows: Any, x: Tensor, args: Any, kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments with a number for each name of a dimension; None if none of them is one."""
    places = {
        k for row in rows for k, (name, _) in enumerate(_core.op_parameters(row)) if name in _DIMS
    }
    new = [_number(x, value) if k in places else value for k, value in enumerate(args)]
    more = {key: _number(x, value) if key in _DIMS else value for key, value in kwargs.items()}
    changed = any(a is not b for a, b in zip(new, args, strict=True))
    changed = changed or any(more[key] is not kwargs[key] for key in more)
    return (new, more) if changed else None


def _number(x: Tensor, value: Any) -> Any:
    if isinstance(value, str):
        return place(x, value)
    if isinstance(value, (list, tuple)) and any(isinstance(item, str) for item in value):
        return [_number(x, item) for item in value]
    return value
