"""What a call is given and gives: its key, its tensors, the objects and containers among its arguments."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from taeda import Tensor
from taeda._core_api import programs as _core

from ._kinds import is_immutable, is_named_tuple, is_plain_tensor, is_record

__all__ = ["containers", "flatten", "objects", "tensors_in"]


def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Tensor]]:
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


def _key(value: Any, tensors: list[Tensor], seen: list[Any]) -> Any:
    """`seen` are the containers so far: one that comes twice is another call than two alike."""
    kind = type(value)
    if kind in (list, dict):
        for i, other in enumerate(seen):
            if other is value:
                return ("the same", i)
        seen.append(value)
    if kind is Tensor or is_plain_tensor(value):
        for i, other in enumerate(tensors):
            if other is value:
                return ("again", i)
        tensors.append(value)
        return Tensor
    if kind in (list, tuple):
        return (kind, *[_key(v, tensors, seen) for v in value])
    if kind is dict:
        return (kind, *[(_label(k), _key(v, tensors, seen)) for k, v in value.items()])
    if kind in (float, complex):
        return (kind, repr(value))
    if is_named_tuple(kind):
        return (kind, *[_key(v, tensors, seen) for v in value])
    if is_immutable(value):
        return (kind, value) if kind is not slice else (kind, repr(value))
    return ("object", id(value))


def _label(key: Any) -> Any:
    """The key of a dict with its type, which `==` leaves out: 1, 1.0 and True are three."""
    return _key(key, [], []) if is_immutable(key) else key


def objects(value: Any) -> Any:
    """What of the arguments a key names by its id."""
    if type(value) in (list, tuple) or is_named_tuple(type(value)):
        for v in value:
            yield from objects(v)
    elif type(value) is dict:
        for v in value.values():
            yield from objects(v)
    elif not is_plain_tensor(value) and not is_immutable(value):
        yield value


def containers(value: Any) -> Any:
    """Lists, dicts and tuples among the arguments, at any depth."""
    if type(value) in (list, tuple, dict) or is_named_tuple(type(value)):
        yield value
        for v in value.values() if type(value) is dict else value:
            yield from containers(v)


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
