"""JSON as Python objects: the kinds that the table below names, and nothing else."""

from __future__ import annotations

import argparse
import base64
import binascii
import datetime as dt
import pathlib
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

from .. import refusals, safetypes
from ..layouts import from_facts
from ..safetensors import FormatError
from ..steps import DEEPEST, GeneratorType, Steps, drive
from .arrays import array_from, dtype_from, scalar_from
from .encoding import FACTORIES, MODULE_VERSIONS

__all__ = ["decode", "dtype_named", "names_in_tree"]

Json = Any
_PARTS = frozenset({list, dict})
_WRONG = (
    TypeError,
    ValueError,
    KeyError,
    IndexError,
    OverflowError,
    AttributeError,
    binascii.Error,
)


def decode(node: Json, tensors: list[Any]) -> Any:
    """The object that `encode` saw, with `tensors[i]` for the one that got number i."""
    made = _Decoder(tensors, node).node(node)
    if type(made) is not GeneratorType:
        return made
    return drive(made, FormatError(f"the object is nested too deeply: more than {DEEPEST} levels"))


def names_in_tree(tree: Json) -> list[str]:
    """The full names in a tree that nobody allowed, in order, each once."""
    found: dict[str, None] = {}
    todo = [tree]
    while todo:
        node = todo.pop()
        if type(node) is dict:
            name = node["object"][0] if _is_object(node) else node.get("name")
            if isinstance(name, str) and safetypes.type_named(name) is None:
                found[name] = None
            todo.extend(reversed(node.values()))
        elif type(node) is list:
            todo.extend(reversed(node))
    return list(found)


def _is_object(node: dict[str, Json]) -> bool:
    return type(node.get("object")) is list and len(node["object"]) == 2


class _Decoder:
    def __init__(self, tensors: list[Any], whole: Json) -> None:
        self.tensors, self.whole = tensors, whole
        self.complete: list[Any] = []  # what is numbered, as it is finished

    def node(self, node: Json) -> Any | Steps:
        """The value of a node; of one with parts the steps to it."""
        if type(node) is list:
            return self.sequence(node)
        if type(node) is not dict:
            return node
        extra = [node.pop(key) for key in _EXTRAS if key in node] if len(node) == 2 else []
        if len(node) != 1:
            raise FormatError(f"an object of the tree has one key, got {sorted(node)}")
        [(kind, value)] = node.items()
        if extra or kind in _NUMBERED:
            return self.container(kind, value, extra)
        return self.one(kind, value)

    def sequence(self, node: list[Json]) -> Steps:
        return self.done((yield from self.values(node)))

    def container(self, kind: str, value: Json, extra: list[Json]) -> Steps:
        made = self.one(kind, value)
        if type(made) is GeneratorType:
            made = yield from self.built(kind, made)
        for part in extra:
            yield from self.attach(made, part)
        return self.done(made) if kind in _NUMBERED else made

    def built(self, kind: str, steps: Steps) -> Steps:
        try:
            return (yield from steps)
        except _WRONG as error:
            raise FormatError(f"the tree holds a {kind} that cannot be: {error}") from None

    def one(self, kind: str, value: Json) -> Any | Steps:
        reader = _READERS.get(kind)
        if reader is None:
            raise FormatError(f"the tree names an unknown kind: {kind!r}")
        try:
            return reader(self, value)
        except _WRONG as error:
            raise FormatError(f"the tree holds a {kind} that cannot be: {error}") from None

    def done(self, made: Any) -> Any:
        self.complete.append(made)
        return made

    def part(self, node: Json) -> Steps:
        made = self.node(node)
        return (yield made) if type(made) is GeneratorType else made

    def leaf(self, node: Json) -> Any:
        """A value without parts."""
        if type(node) is list or type(made := self.node(node)) is GeneratorType:
            raise FormatError("the tree has a container where a value is wanted")
        return made

    def values(self, value: Json) -> Steps:
        if type(value) is not list:
            raise FormatError(f"the tree has {type(value).__name__} where a list is wanted")
        made = []
        for v in value:
            node = self.node(v) if type(v) in _PARTS else v
            made.append((yield node) if type(node) is GeneratorType else node)
        return made

    def pairs(self, value: Json) -> Steps:
        made = []
        for k, v in value:
            key = self.node(k) if type(k) in _PARTS else k
            if type(key) is GeneratorType:
                key = yield key
            node = self.node(v) if type(v) in _PARTS else v
            made.append((key, (yield node) if type(node) is GeneratorType else node))
        return made

    def attach(self, made: Any, extra: Json) -> Steps:
        """What hangs on an object besides what it is."""
        if type(made) is OrderedDict:
            made._metadata = yield from self.part(extra)  # type: ignore[attr-defined]
        elif isinstance(made, Tensor):
            self.attributes(made, dict((yield from self.pairs(extra))))
        else:
            raise FormatError(f"attributes stand at a {type(made).__name__}")

    def attributes(self, made: Tensor, values: dict[str, Any]) -> None:
        for name in values:
            if not isinstance(name, str) or name in _OF_TENSORS:
                raise FormatError(f"a tensor has no room for an attribute {name!r}")
        made.__dict__.update(values)

    def tensor(self, value: Json) -> Any:
        if type(value) is not int or not 0 <= value < len(self.tensors):
            raise FormatError(f"the tree names tensor {value!r}, and there are {len(self.tensors)}")
        return self.tensors[value]

    def sparse(self, value: Json) -> Any:
        name, parts, size, is_coalesced, requires_grad, is_parameter = value
        try:
            made = from_facts(name, [self.leaf(part) for part in parts], size, is_coalesced)
        except MemoryError:  # a RuntimeError as well: memory is out, and the file is innocent
            raise
        except RuntimeError as error:
            raise FormatError(f"the tree holds a sparse tensor that cannot be: {error}") from None
        if is_parameter:
            return taeda.nn.Parameter(made, bool(requires_grad))  # upward: as other parameters
        return made.requires_grad_() if requires_grad else made

    def again(self, value: Json) -> Any:
        if type(value) is not int or not 0 <= value < len(self.complete):
            raise FormatError(f"the tree repeats container {value!r}, which is not complete there")
        return self.complete[value]

    def object(self, value: Json) -> Steps:
        name, state = value
        kind = safetypes.type_named(name)
        if not isinstance(kind, type):
            raise FormatError(refusals.of_classes(names_in_tree(self.whole)))
        return safetypes.restore(kind, (yield from self.part(state)))

    def named(self, name: Json) -> Any:
        found = safetypes.type_named(name) if isinstance(name, str) else None
        if found is None:
            raise FormatError(refusals.of_classes(names_in_tree(self.whole)))
        return found

    def generator(self, value: Json) -> Any:
        device, state = value
        made = taeda.Generator(device)
        return made.set_state(self.leaf(state))

    def storage(self, value: Json) -> Any:
        content = self.leaf(value)
        if not isinstance(content, Tensor):
            raise FormatError("a storage wants a tensor")
        return content.untyped_storage()

    def array(self, value: Json) -> Any:
        node, described, shape = value
        return array_from(self.leaf(node), described, shape)

    def deque(self, value: Json) -> Steps:
        longest, values = value
        return deque((yield from self.values(values)), longest)

    def defaultdict(self, value: Json) -> Steps:
        factory, pairs = value
        kind = FACTORIES[factory] if factory else None
        return defaultdict(kind, (yield from self.pairs(pairs)))


def _of_values(kind: Callable[[Any], Any]) -> Callable[[_Decoder, Json], Steps]:
    """Reads what `kind` makes of a list of values."""

    def read(decoder: _Decoder, value: Json) -> Steps:
        return kind((yield from decoder.values(value)))

    return read


def _of_pairs(kind: Callable[[Any], Any]) -> Callable[[_Decoder, Json], Steps]:
    """Reads what `kind` makes of a list of pairs."""

    def read(decoder: _Decoder, value: Json) -> Steps:
        return kind((yield from decoder.pairs(value)))

    return read


def _named(kind: type) -> Callable[[Any, Json], Any]:
    table = {str(v).rpartition(".")[2]: v for v in [*vars(taeda).values()] if isinstance(v, kind)}

    def read(_: Any, name: Json) -> Any:
        found = table.get(name) if isinstance(name, str) else None
        if found is None:
            raise FormatError(f"{name!r:.100} is no {kind.__name__}")
        return found

    return read


_dtype_named = _named(taeda.dtype)


def dtype_named(name: Any) -> Any:
    """The dtype called `name` ("float32"); FormatError for other texts."""
    return _dtype_named(None, name)


def _nonfinite(_: Any, value: Json) -> float:
    if value not in ("nan", "inf", "-inf"):
        raise FormatError(f"{value!r} is none of nan, inf and -inf")
    return float(value)


def _slice(start: Json, stop: Json, step: Json) -> slice:
    if any(part is not None and type(part) is not int for part in (start, stop, step)):
        raise TypeError("a slice is of ints")
    return slice(start, stop, step)


def _bytes(value: Json) -> bytes:
    return base64.b64decode(value, validate=True)


_OF_TENSORS = frozenset(dir(Tensor)) - {"__dict__"}
_EXTRAS = (MODULE_VERSIONS, "attributes")
#: the kinds that {"again": n} counts: each that `_Encoder.container` writes
_NUMBERED: dict[str, Callable[[_Decoder, Json], Any]] = {
    "tuple": _of_values(tuple),
    "set": _of_values(set),
    "frozenset": _of_values(frozenset),
    "dict": _of_pairs(dict),
    "OrderedDict": _of_pairs(OrderedDict),
    "Counter": _of_pairs(lambda pairs: Counter(dict(pairs))),
    "defaultdict": _Decoder.defaultdict,
    "deque": _Decoder.deque,
    "namespace": _of_pairs(lambda pairs: types.SimpleNamespace(**dict(pairs))),
    "Namespace": _of_pairs(lambda pairs: argparse.Namespace(**dict(pairs))),
    "Size": _of_values(taeda.Size),
    "ndarray": _Decoder.array,
    "Generator": _Decoder.generator,
    "storage": _Decoder.storage,
    "sparse": _Decoder.sparse,
    "object": _Decoder.object,
    "name": _Decoder.named,
}
_READERS: dict[str, Callable[[_Decoder, Json], Any]] = {
    **_NUMBERED,
    "tensor": _Decoder.tensor,
    "again": _Decoder.again,
    "float": _nonfinite,
    "complex": lambda d, v: complex(*map(d.leaf, v)),
    "bytes": lambda d, v: _bytes(v),
    "bytearray": lambda d, v: bytearray(_bytes(v)),
    "numpy": lambda d, v: scalar_from(*v),
    "dtype": _dtype_named,
    "layout": _named(taeda.layout),
    "memory_format": _named(taeda.memory_format),
    "device": lambda d, v: taeda.device(v),
    "range": lambda d, v: range(*v),
    "slice": lambda d, v: _slice(*v),
    "datetime": lambda d, v: dt.datetime.fromisoformat(v),
    "date": lambda d, v: dt.date.fromisoformat(v),
    "time": lambda d, v: dt.time.fromisoformat(v),
    "timedelta": lambda d, v: dt.timedelta(*v),
    "numpy.dtype": lambda d, v: dtype_from(v),
    "Path": lambda d, v: pathlib.Path(v),
}
