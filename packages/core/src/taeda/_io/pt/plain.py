"""Containers, numbers, bytes, sizes and devices, made of the arguments in a pickle."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import taeda

from ..layouts import LAYOUTS
from .context import Context, Known, want
from .errors import RefusedPickle

__all__ = [
    "FACTORIES",
    "LONGEST_DEQUE",
    "Advice",
    "advice",
    "bytearray_",
    "bytes_of_text",
    "complex_",
    "counter",
    "counts",
    "default_dict",
    "deque_",
    "device",
    "layout",
    "namespace",
    "no_bytes",
    "ordered_dict",
    "path",
    "range_",
    "set_of",
    "size",
]

Arguments = tuple[Any, ...]

#: what the entries of a defaultdict may begin as
FACTORIES: dict[str, Callable[[], Any]] = {
    f"builtins {kind.__name__}": kind for kind in (list, dict, set, int, float, str, tuple, bool)
}
FACTORIES["builtins long"] = int  # Python 2's
CONTAINER = 300  # bytes
LONGEST_DEQUE = 1 << 40


def ordered_dict(arguments: Arguments, context: Context) -> OrderedDict[Any, Any]:
    """An empty one; or one of a list of pairs, as Python 2 wrote it."""
    [pairs] = want(arguments, (list,), "an OrderedDict") if arguments else [[]]
    context.budget.spend(CONTAINER + 150 * len(pairs))
    if not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
        raise RefusedPickle("an OrderedDict is made of pairs")
    return OrderedDict((context.keys.checked(key), value) for key, value in pairs)


def counter(arguments: Arguments, context: Context) -> Counter[Any]:
    """A Counter of a dict of counts."""
    [given] = want(arguments, (dict,), "a Counter") if arguments else [{}]
    context.budget.spend(CONTAINER + 64 * len(given))
    return Counter(given)


def default_dict(arguments: Arguments, context: Context) -> defaultdict[Any, Any]:
    """A defaultdict that begins entries as an empty builtin container, or as zero."""
    context.budget.spend(CONTAINER)
    if arguments in ((), (None,)):
        return defaultdict(None)
    [factory] = want(arguments, (Known,), "a defaultdict")
    if factory.name not in FACTORIES:
        raise RefusedPickle(f"a defaultdict cannot have {factory.name} as its factory")
    return defaultdict(FACTORIES[factory.name])


def set_of(kind: Callable[[list[Any]], Any]) -> Callable[[Arguments, Context], Any]:
    """The function that makes a set, or a frozenset, of a list."""

    def make(arguments: Arguments, context: Context) -> Any:
        [items] = want(arguments, ((list, tuple),), "a set") if arguments else [()]
        context.budget.spend(CONTAINER + 64 * len(items))
        return kind([context.keys.checked(item) for item in items])

    return make


def bytes_of_text(arguments: Arguments, context: Context) -> bytes:
    """The bytes of a text: how protocol 2 writes bytes."""
    text, code = want(arguments, (str, str), "bytes")
    if code not in ("latin1", "latin-1"):
        raise RefusedPickle(f"bytes are written in the code {code!r:.50}")
    context.budget.spend(len(text))
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise RefusedPickle("bytes are written as a text with other characters") from None


def no_bytes(arguments: Arguments, context: Context) -> bytes:
    """No bytes: how protocol 2 writes b''."""
    want(arguments, (), "bytes")
    return b""


def bytearray_(arguments: Arguments, context: Context) -> bytearray:
    """A bytearray of bytes."""
    [content] = want(arguments, (bytes,), "a bytearray") if arguments else [b""]
    context.budget.spend(len(content))
    return bytearray(content)


def complex_(arguments: Arguments, context: Context) -> complex:
    """A complex number of its parts."""
    return complex(*want(arguments, (float, float), "a complex number"))


def counts(values: Any, what: str) -> tuple[int, ...]:
    """A tuple of numbers of at least 0, that fit 63 bits."""
    if not isinstance(values, (tuple, list)) or not all(
        type(value) is int and 0 <= value < 1 << 63 for value in values
    ):
        raise RefusedPickle(f"{what} is a tuple of numbers from 0, got {_shown(values)}")
    return tuple(values)


def _shown(value: Any) -> str:
    """A value in few words, without the cost of printing a huge one."""
    if isinstance(value, (tuple, list)):
        return f"({', '.join(type(item).__name__ for item in value[:8])}, ...)"
    return f"a {type(value).__name__}"


def size(arguments: Arguments, context: Context) -> taeda.Size:
    """A Size of a tuple."""
    [values] = want(arguments, ((tuple, list),), "a Size")
    context.budget.spend(56 + 8 * len(values))
    return taeda.Size(counts(values, "a Size"))


def deque_(arguments: Arguments, context: Context) -> deque[Any]:
    """(list[, longest]); Python puts the elements in afterwards, one by one."""
    items, longest = want((*arguments, *((), None)[len(arguments) :]), (object, object), "a deque")
    length = longest is None or (type(longest) is int and 0 <= longest < LONGEST_DEQUE)
    if not isinstance(items, (list, tuple)) or not length:
        raise RefusedPickle("a deque is made of a list and its greatest length")
    context.budget.spend(380 + 9 * len(items))
    return deque(items, longest)


def range_(arguments: Arguments, context: Context) -> range:
    """(start, stop, step)."""
    start, stop, step = want(arguments, (int, int, int), "a range")
    if step == 0:
        raise RefusedPickle("a range has a step of 0")
    return range(start, stop, step)


def namespace(kind: Callable[[], Any]) -> Callable[[Arguments, Context], Any]:
    """The function that makes an empty namespace; its names come afterwards."""

    def make(arguments: Arguments, context: Context) -> Any:
        want(arguments, (), "a namespace")
        context.budget.spend(CONTAINER)
        return kind()

    return make


class Advice(str):
    """What a file says to a compiler of theirs: nothing is done with it. A text, so that sets may hold it."""

    __slots__ = ()


def advice(arguments: Arguments, context: Context) -> Advice:
    """An object that is given what it holds afterwards."""
    want(arguments, (), "advice to a compiler")
    context.budget.spend(CONTAINER)
    return Advice()


def path(arguments: Arguments, context: Context) -> Path:
    """The parts of a path, as one of this machine."""
    if not all(isinstance(part, str) and "\0" not in part for part in arguments):
        raise RefusedPickle("a path is made of texts")
    context.budget.spend(120)
    return Path(*arguments)


def device(arguments: Arguments, context: Context) -> taeda.device:
    """A device of "cuda:0", or of "cuda" and 0."""
    if not arguments or len(arguments) > 2 or not all(type(a) in (str, int) for a in arguments):
        raise RefusedPickle("a device is made of its kind and a number")
    text = ":".join(f"{a:.30}" if isinstance(a, str) else f"{a % 10000}" for a in arguments)
    if not re.fullmatch(r"[a-z]{1,20}(:\d{1,4})?", text):
        raise RefusedPickle(f"{text!r} is no device")
    try:
        return taeda.device(text)
    except MemoryError:
        raise
    except RuntimeError as error:
        raise RefusedPickle(f"{text!r} is no device here: {error}") from None


def layout(arguments: Arguments, context: Context) -> Any:
    """A layout by its name."""
    known = {f"torch.{name}": getattr(taeda, name) for name in ("strided", *LAYOUTS)}
    if len(arguments) != 1 or type(arguments[0]) is not str or arguments[0] not in known:
        raise RefusedPickle(
            f"a tensor of another layout than {', '.join(known)} is not read: save "
            "`tensor.to_dense()`, or its indices and values"
        )
    return known[arguments[0]]
