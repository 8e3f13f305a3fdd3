"""Functions that core writes in other functions: their text runs on samples, and those functions'
rules serve.

Only where the public name has one row, so that there is no overload to choose.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from taeda import Tensor, return_types
from taeda._core_api import runtime as _core
from taeda._core_api.calls import OVERRIDE, TRANSFORM
from taeda._core_api.table import composite_body, default_object, schema_of

from ._batched import NeedsValue
from ._registry import Decline

__all__ = ["composed", "in_type"]


@functools.cache
def _rows() -> dict[str, list[Any]]:
    """Rows by the key of their public function."""
    found: dict[str, list[Any]] = {}
    for row in _core.op_rows():
        text, _, _, space, _, _ = row
        prefix = f"{space}." if space in ("linalg", "special", "fft") else ""
        found.setdefault(prefix + text.partition(".")[0], []).append(row)
    return found


@functools.cache
def _body(key: str) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """(the Python function, the parameters of its schema) of a composite with one row."""
    rows = _rows().get(key, [])
    if len(rows) != 1 or rows[0][2] != "composite":
        return None
    text, family, _, _, stem, _ = rows[0]
    function = composite_body(family, stem)
    arguments = schema_of(text).arguments
    if function is None or any(a.mutated for a in arguments):
        return None
    return function, arguments


def in_type(key: str, made: Any) -> Any:
    """Several results of a row's function as the function itself gives them: named if the row names
    them, else in a tuple.
    """
    if type(made) not in (tuple, list) or key not in _rows():
        return made
    # of the module itself: a name that it lacks would be looked for elsewhere
    named = vars(return_types).get(key.replace(".", "_"))
    if named is not None and named.n_fields == len(made):
        return named(made)
    return tuple(made)


def composed(key: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of the text. Decline if the function is not of this kind, or its text asks for values."""
    body = _body(key)
    if body is None:
        raise Decline
    function, arguments = body
    values = _bound(arguments, args, dict(kwargs))
    with _core.Switches(show=TRANSFORM | OVERRIDE):
        try:
            return function(*values)
        except NeedsValue:
            raise Decline from None


def _bound(arguments: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    places = [a for a in arguments if not a.keyword_only]
    if len(args) > len(places):
        raise Decline
    given = {a.name: v for a, v in zip(places, args, strict=False)} | kwargs
    if len(given) < len(args) + len(kwargs) or given.keys() - {a.name for a in arguments}:
        raise Decline
    return [_value(a, given) for a in arguments]


def _value(argument: Any, given: dict[str, Any]) -> Any:
    if argument.name not in given:
        if not argument.has_default:
            raise Decline
        return default_object(argument)
    value = given[argument.name]
    if argument.is_list and type(value) is int:
        return [value] * (argument.length or 1)
    plain = argument.is_tensor and not argument.is_list
    if plain and not (isinstance(value, Tensor) or (value is None and argument.optional)):
        raise Decline
    return value
