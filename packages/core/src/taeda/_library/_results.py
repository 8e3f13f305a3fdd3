"""What operators of a C++ extension give that are no Tensors: numbers, texts, lists, tuples of them.

All results cross the binary interface as tensors. The library says what each stands for, in letters:

    t a Tensor     o one or None      f a float      i an int      b a bool
    z a complex    n a number of the kind that it has
    I ints         F floats           B bools        s a text      S texts, each as "length:text"
    [ a list of Tensors
    c an object of a C++ class, told as "space.Name:number"
    (...) a tuple  ~ behind all: the record of a derivative in C++, which callers do not see
    e, E in front of "name=number, ...": no function but an enumeration, its text behind; with E the
      members are names of the module, too
    ! alone: a function of types that do not cross at all, which is refused when it is called

Results of which one is a list, or which are more than an operator may have, cross as one Tensor?[]. A
record comes first; then, unless a list is all there is, the lengths of all lists, as one tensor of ints.
"""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import re
from collections.abc import Callable, Iterator
from typing import Any

import taeda

from . import _classes, table
from .operators import OpOverload, OpOverloadPacket, namespace

__all__ = ["finish"]

PLAIN = frozenset("(to)")
READ: dict[str, Callable[[Any], Any]] = {
    "t": lambda x: x,
    "o": lambda x: x,
    "f": lambda x: float(x.item()),
    "i": lambda x: int(x.item()),
    "b": lambda x: bool(x.item()),
    "z": lambda x: complex(x.item()),
    "n": lambda x: x.item(),
    "I": lambda x: x.tolist(),
    "F": lambda x: x.tolist(),
    "B": lambda x: x.tolist(),
    "s": lambda x: _text(x),
    "S": lambda x: _texts(bytes(x.tolist())),
    "c": lambda x: _classes.object_of(_text(x)),
}


def _text(x: Any) -> str:
    return bytes(x.tolist()).decode("utf-8", "replace")


def _texts(given: bytes) -> list[str]:
    made = []
    while given:
        length, _, rest = given.partition(b":")
        made.append(rest[: int(length)].decode("utf-8", "replace"))
        given = rest[int(length) :]
    return made


class Enumeration(enum.IntEnum):
    """Members of an enumeration of C++, which functions of the library take; they give its numbers."""

    __str__ = enum.Enum.__str__


def finish(path: str) -> tuple[dict[str, Any] | None, str]:
    """Give the operators of a loaded library their results.

    Returns the functions and enumerations that it binds for Python, by name, or None if it does not
    tell; and the docstring of their module.
    """
    library = ctypes.CDLL(path)
    told = getattr(library, "taeda_ext_results", None)
    if told is None:
        return None, ""
    told.restype = library.taeda_ext_doc.restype = ctypes.c_char_p
    bound: dict[str, Any] = {}
    for record in told().decode().split("\x1e")[:-1]:
        place, name, kinds, python = record.split("\x1f")
        if kinds[:1] in ("e", "E"):
            bound[name] = made = _enumeration(name, kinds[1:], python)
            bound.update(made.__members__ if kinds[0] == "E" else {})
            continue
        function = _function(place, name, kinds)
        if python:
            bound[name] = function
    _classes.enter(library, path)
    return bound, library.taeda_ext_doc().decode("utf-8", "replace")


def _function(place: str, name: str, kinds: str) -> Callable[..., Any]:
    space = namespace(place)
    stem, _, overload = name.partition(".")
    if kinds == "!":
        vars(space)[stem] = refused = _refusal(f"{place}::{name}")
        return refused
    operator: OpOverloadPacket = getattr(space, stem)
    if kinds == "[" or (set(kinds) <= PLAIN and not _crosses_as_list(operator, overload)):
        return operator
    if overload:
        raise ImportError(
            f"{place}::{name}: an operator with an overload's name gives Tensors only: name it apart"
        )
    made = _reader(operator, kinds)
    vars(space)[stem] = made
    table.set_rule(f"{place}::{name}", "crossing", kinds)
    return made


def _enumeration(name: str, members: str, doc: str) -> Any:
    pairs = (one.partition("=") for one in members.split(", ") if one)
    kind: Any = Enumeration  # a call of the base makes a class
    made = kind(name, [(key, int(number)) for key, _, number in pairs])
    made.__doc__ = doc.strip() or Enumeration.__doc__
    return made


def _refusal(name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"{name} takes or gives a c10::Dict, and dictionaries do not cross the binary interface: "
            "pass its values as a list of Tensors"
        )

    call.__name__ = call.__qualname__ = name.rpartition(":")[2]
    return call


def _reader(operator: OpOverloadPacket, kinds: str) -> Callable[..., Any]:
    """`operator` with the results that `kinds` says."""
    recorded, letters = kinds.endswith("~"), kinds.rstrip("~")
    lengthy = "[" in letters and letters != "["
    names = [a.name for a in operator.default._parsed.arguments]
    tensors = [a.name for a in operator.default._parsed.arguments if a.is_tensor]

    def call(*args: Any, **kwargs: Any) -> Any:
        if recorded:
            kwargs["taeda_needs"] = _needs(tensors, dict(zip(names, args, strict=False)) | kwargs)
        made = operator(*args, **kwargs)
        results = list(made) if isinstance(made, tuple | list) else [made]
        del results[:recorded]
        lengths = iter(results.pop(0).tolist() if lengthy else (len(results),))
        return next(_values(iter(letters), iter(results), lengths), None)

    call.__name__ = call.__qualname__ = operator.__name__
    call.__doc__ = operator.__doc__
    # as programs reach an overload
    call.default = _read_overload(operator.default, kinds, call)  # type: ignore[attr-defined]
    call.overloads = operator.overloads  # type: ignore[attr-defined]
    return call


class ReadOverload(OpOverload):
    """The overload of an operator in C++ as its author wrote it; `_raw` is the one that the core knows.

    `_is_node`: programs may be written with it. Else its results are no Tensors, or cross as a list.
    """

    _raw: OpOverload
    _is_node: bool
    _read: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._read(*args, **kwargs)

    def __reduce__(self) -> Any:
        return read_overload, (self.namespace, self._overloadpacket.__name__)


def read_overload(space: str, name: str) -> Any:
    """That of an operator, which its library defined."""
    return getattr(namespace(space), name).default


def _read_overload(raw: OpOverload, kinds: str, read: Callable[..., Any]) -> ReadOverload:
    made = ReadOverload(raw.name(), (raw._text,), False)
    made.__dict__.update(raw.__dict__)
    made.__name__, made.__qualname__ = raw.__name__, raw.__qualname__
    made.__module__, made.__doc__ = raw.__module__, raw.__doc__
    made._raw, made._read = raw, read
    lists = any(result.is_list for result in raw._parsed.returns)
    made._is_node = kinds.endswith("~") and set(kinds[:-1]) <= PLAIN and not lists
    if made._is_node:
        returns = tuple(
            dataclasses.replace(result, optional=False, declared="Tensor")
            if letter == "t"
            else result
            for letter, result in zip(
                re.sub("[()~]", "", kinds), raw._parsed.returns[1:], strict=True
            )
        )
        made._parsed = dataclasses.replace(
            raw._parsed, arguments=raw._parsed.arguments[:-1], returns=returns
        )
    return made


def _crosses_as_list(operator: OpOverloadPacket, overload: str) -> bool:
    one: OpOverload = getattr(operator, overload or "default")
    return any(result.is_list for result in one._parsed.returns)


def _needs(tensors: list[str], given: dict[str, Any]) -> int:
    """A bit for each Tensor argument whose gradient may be asked for."""
    if not taeda.is_grad_enabled():
        return 0
    wanted = (getattr(given.get(name), "requires_grad", False) for name in tensors)
    return sum(1 << k for k, one in enumerate(wanted) if one is True)


def _values(
    letters: Iterator[str], results: Iterator[Any], lengths: Iterator[int]
) -> Iterator[Any]:
    """The values that the letters up to the end, or to the bracket that closes, say."""
    for letter in letters:
        if letter == ")":
            return
        if letter == "(":
            yield tuple(_values(letters, results, lengths))
        elif letter == "[":
            yield [next(results) for _ in range(next(lengths))]
        else:
            yield READ[letter](next(results))
