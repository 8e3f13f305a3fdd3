"""What a call is given and gives: its key, its tensors, the objects and containers among its arguments."""

from __future__ import annotations

import enum
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from taeda import Tensor
from taeda._core_api import programs as _core

from ._kinds import is_immutable, is_named_tuple, is_plain_tensor, is_record, numeral

__all__ = ["containers", "flatten", "flatten_loosely", "objects", "tensors_in"]


def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Any]]:
    """(what the call is like apart from its tensors, the tensors); unhashable parts are named by their id."""
    plain: Any = None if kwargs else _core.call_key(args)  # for tensors alone, and faster
    if plain is not None:
        return plain
    tensors: list[Tensor] = []
    seen: list[Any] = []
    key = [_key(value, tensors, seen) for value in args]
    if kwargs:
        key += [(name, _key(value, tensors, seen)) for name, value in kwargs.items()]
    return (len(args), *key), tensors


def flatten_loosely(
    args: tuple[Any, ...], kwargs: dict[str, Any], places: tuple[Any, ...]
) -> tuple[Any, list[Any]] | None:
    """The same with any floats at these places, which come behind the tensors; None if there is
    something else.
    """
    try:
        floats = [kwargs[place] if isinstance(place, str) else args[place] for place in places]
    except LookupError:
        return None
    if any(type(value) is not float for value in floats):
        return None
    plain = tuple(_Any if n in places else value for n, value in enumerate(args))
    named = {name: _Any if name in places else value for name, value in kwargs.items()}
    key, tensors = flatten(plain, named)
    return key, [*tensors, *floats]


class _AnyFloat(enum.Enum):
    """In place of a float that a graph is given anew."""

    VALUE = 0


_Any = _AnyFloat.VALUE


def _key(value: Any, tensors: list[Tensor], seen: list[Any]) -> Any:
    """`seen` are the containers so far: one that comes twice is another call than two alike."""
    kind = type(value)
    if kind is Tensor or is_plain_tensor(value):
        for i, other in enumerate(tensors):
            if other is value:
                return ("again", i)
        tensors.append(value)
        return Tensor
    record = "__dataclass_fields__" in kind.__dict__ and is_batch(value)
    if record or kind in (list, dict):
        for i, other in enumerate(seen):
            if other is value:
                return ("the same", i)
        seen.append(value)
    if kind in (list, tuple):
        return (kind, *[_key(v, tensors, seen) for v in value])
    if kind is dict:
        return (kind, *[(_label(k), _key(v, tensors, seen)) for k, v in value.items()])
    if kind in (float, complex):
        return (kind, numeral(value))
    if is_named_tuple(kind):
        return (kind, *[_key(v, tensors, seen) for v in value])
    if record:
        return (kind, *[(name, _key(v, tensors, seen)) for name, v in vars(value).items()])
    if is_immutable(value):
        return (kind, value) if kind is not slice else (kind, repr(value))
    return ("object", id(value))


def _label(key: Any) -> Any:
    """The key of a dict with its type, which `==` leaves out: 1, 1.0 and True are three."""
    return _key(key, [], []) if is_immutable(key) else key


def objects(value: Any) -> Iterator[Any]:
    """What of the arguments a key names by its id."""
    for part in _parts(value, set()):
        if not (_has_parts(part) or is_plain_tensor(part) or is_immutable(part)):
            yield part


def containers(value: Any) -> Iterator[Any]:
    """Lists, dicts, tuples and batches of dataclasses among the arguments, at any depth."""
    return filter(_has_parts, _parts(value, set()))


def _has_parts(value: Any) -> bool:
    """Whether a key says what it holds."""
    kind = type(value)
    return kind in (list, tuple, dict) or is_named_tuple(kind) or is_batch(value)


def _parts(value: Any, seen: set[int]) -> Iterator[Any]:
    """The value, and what is in it; what holds itself once."""
    yield value
    if not _has_parts(value) or id(value) in seen:
        return
    seen.add(id(value))
    inner = vars(value) if is_batch(value) else value
    for entry in inner.values() if isinstance(inner, dict) else inner:
        yield from _parts(entry, seen)


def is_batch(value: Any) -> bool:
    """Whether it is an object of a dataclass that holds tensors, and besides them only values and
    containers: what changes from call to call.
    """
    if not is_record(type(value)):
        return False
    held = vars(value).values()
    return any(map(is_plain_tensor, held)) and all(
        is_plain_tensor(v) or is_immutable(v) or type(v) in (list, tuple, dict) for v in held
    )


def tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors of a result, in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from tensors_in(entry)
    elif type(value) in (dict, OrderedDict):
        for entry in value.values():
            yield from tensors_in(entry)
    elif is_record(type(value)):
        for entry in vars(value).values():
            yield from tensors_in(entry)
