"""Instances of classes that the user allowed (`add_safe_globals`): their fields are put in place,
none of their code runs.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from taeda import Tensor

from .. import safetypes
from .context import Context, Known
from .errors import RefusedPickle

__all__ = ["Allowed", "fill", "find", "is_instance"]

_INSTANCE = 400  # bytes


class Allowed(Known):
    """A name that stands for something of the user's."""

    def __init__(self, name: str, kind: Any) -> None:
        super().__init__(name, lambda arguments, context: instance(kind, arguments, context))
        object.__setattr__(self, "kind", kind)

    kind: Any


def find(module: str, name: str) -> Known | None:
    """What the user allowed under this name."""
    if module in ("builtins", "__builtin__") and name == "getattr":
        return _NAMED_MEMBER
    kind = safetypes.type_named(f"{module}.{name}")
    return None if kind is None else Allowed(f"{module}.{name}", kind)


def value_named(module: str, name: str) -> Any:
    """A function of a sibling's own, which may stand in a field (an activation); None for other names."""
    found = safetypes.type_named(f"{module}.{name}")
    return (
        found
        if found is not None
        and found is safetypes.own(f"{module}.{name}")
        and not isinstance(found, type)
        else None
    )


def instance(kind: Any, arguments: tuple[Any, ...], context: Context) -> Any:
    """An instance of an allowed class: an enum's member, a tuple of values, or an object without
    fields yet.
    """
    context.budget.spend(_INSTANCE)
    if not isinstance(kind, type):
        raise RefusedPickle(f"the function {kind.__name__} is called: functions in files never are")
    if issubclass(kind, enum.Enum):
        return _member(kind, arguments)
    if issubclass(kind, tuple):
        return tuple.__new__(kind, arguments if hasattr(kind, "_fields") else arguments[0])
    if arguments or issubclass(kind, (Tensor, int, float, str, bytes, list, dict, set)):
        raise RefusedPickle(
            f"an instance of {kind.__qualname__} is made by calling the class, which files cannot: save "
            "its fields"
        )
    return object.__new__(kind)


def _member(kind: type[enum.Enum], arguments: tuple[Any, ...]) -> enum.Enum:
    for member in kind.__members__.values():
        if len(arguments) == 1 and type(arguments[0]) in _PLAIN and member._value_ == arguments[0]:
            return member
    raise RefusedPickle(f"the enum {kind.__qualname__} has no such member")


_PLAIN = (int, str, float, bool, bytes)


def _named_member(arguments: tuple[Any, ...], context: Context) -> enum.Enum:
    """getattr(Colour, "RED"), as the first releases of Python 3.11 write a member of an enum."""
    match arguments:
        case (Allowed(kind=type() as kind), str(name)) if issubclass(kind, enum.Enum):
            if (member := kind.__members__.get(name)) is not None:
                return member
            raise RefusedPickle(f"the enum {kind.__qualname__} has no such member")
    raise RefusedPickle(
        "the file asks for 'builtins.getattr' of something that is no allowed enum, and files are "
        "read as data: nothing is imported or called"
    )


_NAMED_MEMBER = Known("builtins.getattr", _named_member)


def _field(value: Any) -> Any:
    """The value of a field: an allowed class stands for itself there."""
    return value.kind if isinstance(value, Allowed) and isinstance(value.kind, type) else value


def is_instance(value: Any) -> bool:
    """Whether this is an object of an allowed class, to be given fields."""
    return safetypes.is_allowed(type(value))


def fill(target: Any, given: Any) -> None:
    """Put fields in place: a dict of them, a pair of dicts, for `__dict__` and for slots, or a tuple
    with as many values as a data class has fields.
    """
    if dataclasses.is_dataclass(target) and isinstance(given, tuple):
        names = [field.name for field in dataclasses.fields(target)]
        if len(given) == len(names) and not all(isinstance(v, (dict, type(None))) for v in given):
            given = dict(zip(names, given, strict=True))
    parts = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    if not all(part is None or isinstance(part, dict) for part in parts):
        raise RefusedPickle(f"a {type(target).__qualname__} is given something else than fields")
    dicts: list[dict[Any, Any]] = [part for part in parts if isinstance(part, dict)]
    fields = {name: _field(value) for part in dicts for name, value in part.items()}
    if not all(isinstance(name, str) and name.isidentifier() for name in fields):
        raise RefusedPickle(
            f"a {type(target).__qualname__} is given fields that have no plain names"
        )
    family = safetypes.family_of(type(target))
    try:
        (family.put if family else safetypes.put_fields)(target, fields)
    except AttributeError as error:
        raise RefusedPickle(
            f"a {type(target).__qualname__} has no place for a field: {error}"
        ) from None
    except TypeError as error:  # what a family says of fields that are none of its objects'
        raise RefusedPickle(f"a {type(target).__qualname__} cannot be restored: {error}") from None
