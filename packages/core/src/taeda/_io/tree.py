"""Python objects as JSON and back: containers, numbers, texts; tensors by their place in a list.

JSON's own values stand for themselves (None, bool, int, float, str, list); everything else is an
object with one key, which names the kind: {"tuple": [...]}, {"dict": [[key, value], ...]},
{"tensor": 3}. Decoding makes these kinds and nothing else, so a file cannot run code.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

from .safetensors import FormatError

__all__ = ["decode", "encode"]

Json = Any
Keep = Callable[[Tensor, str], int]

_MAPPINGS: dict[type, str] = {dict: "dict", OrderedDict: "OrderedDict", Counter: "Counter"}
_SEQUENCES: dict[type, str] = {tuple: "tuple", set: "set", frozenset: "frozenset"}
_MODULE_VERSIONS = "_metadata"  # what a module's state_dict() carries beside its entries


def encode(value: Any, keep: Keep) -> Json:
    """`value` as JSON. `keep(tensor, path)` takes a tensor and says which number it got.

    TypeError for an object of another kind and ValueError for a container inside itself, both with
    the path to it.
    """
    return _Encoder(keep).node(value, "")


class _Encoder:
    def __init__(self, keep: Keep) -> None:
        self.keep = keep
        self.open: set[int] = set()  # containers on the way down to here

    def node(self, value: Any, path: str) -> Json:
        if value is None or value is True or value is False:
            return value
        if isinstance(value, Tensor):
            return {"tensor": self.keep(value, path)}
        if isinstance(value, (int, float, str, complex, bytes, bytearray)):
            return _scalar(value)
        if isinstance(value, taeda.dtype):
            return {"dtype": str(value).rpartition(".")[2]}
        if isinstance(value, taeda.device):
            return {"device": str(value)}
        return self.container(value, path)

    def container(self, value: Any, path: str) -> Json:
        if id(value) in self.open:
            raise ValueError(f"cannot save {_place(path)}: it contains itself")
        self.open.add(id(value))
        try:
            return self.entries(value, path)
        except RecursionError:
            raise ValueError(f"cannot save {_place(path)}: nested too deeply") from None
        finally:
            self.open.remove(id(value))

    def entries(self, value: Any, path: str) -> Json:
        kind = type(value)
        if kind in _MAPPINGS:
            pairs = [
                [self.node(k, path), self.node(v, f"{path}.{k}" if path else str(k))]
                for k, v in value.items()
            ]
            if hasattr(value, _MODULE_VERSIONS):
                versions = self.node(getattr(value, _MODULE_VERSIONS), path)
                return {_MAPPINGS[kind]: pairs, _MODULE_VERSIONS: versions}
            return {_MAPPINGS[kind]: pairs}
        if kind is taeda.Size:
            return {"Size": list(value)}
        if kind is not list and kind not in _SEQUENCES:
            raise TypeError(_unsavable(value, path))
        nodes = [self.node(v, f"{path}.{i}" if path else str(i)) for i, v in enumerate(value)]
        return nodes if kind is list else {_SEQUENCES[kind]: nodes}


def _place(path: str) -> str:
    shown = path if len(path) <= 200 else f"{path[:200]}..."
    return f"the object at '{shown}'" if path else "the object"


def _unsavable(value: Any, path: str) -> str:
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    advice = "save tensors, numbers, texts, and lists, tuples, sets and dicts of them"
    if hasattr(value, "state_dict"):
        advice = "save its state_dict()"
    return f"cannot save {_place(path)}, a {name}: files hold data, not code; {advice}"


def _scalar(value: Any) -> Json:
    if isinstance(value, (bytes, bytearray)):
        return {type(value).__name__: base64.b64encode(value).decode()}
    if isinstance(value, complex):
        return {"complex": [_scalar(value.real), _scalar(value.imag)]}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    return int(value) if isinstance(value, int) else str(value)


# ---- and back ----


def decode(node: Json, tensors: list[Any]) -> Any:
    """The object that `encode` saw, with `tensors[i]` for the one that got number i."""
    try:
        return _node(node, tensors)
    except RecursionError:
        raise FormatError("the object is nested too deeply") from None


def _node(node: Json, tensors: list[Any]) -> Any:
    if isinstance(node, list):
        return [_node(entry, tensors) for entry in node]
    if not isinstance(node, dict):
        return node
    if len(node) == 2 and _MODULE_VERSIONS in node:
        versions = node.pop(_MODULE_VERSIONS)
        made = _node(node, tensors)
        if type(made) is not OrderedDict:
            raise FormatError(f"{_MODULE_VERSIONS} stands at a {type(made).__name__}")
        made._metadata = _node(versions, tensors)  # type: ignore[attr-defined]
        return made
    if len(node) != 1:
        raise FormatError(f"an object of the tree has one key, got {sorted(node)}")
    [(kind, value)] = node.items()
    reader = _READERS.get(kind)
    if reader is None:
        raise FormatError(f"the tree names an unknown kind: {kind!r}")
    try:
        return reader(value, tensors)
    except (TypeError, ValueError, KeyError, IndexError, OverflowError, binascii.Error) as error:
        raise FormatError(f"the tree holds a {kind} that cannot be: {error}") from None


def _pairs(value: Json, tensors: list[Any]) -> list[tuple[Any, Any]]:
    return [(_node(k, tensors), _node(v, tensors)) for k, v in value]


def _tensor(value: Json, tensors: list[Any]) -> Any:
    if type(value) is not int or not 0 <= value < len(tensors):
        raise FormatError(f"the tree names tensor {value!r}, and there are {len(tensors)}")
    return tensors[value]


def _entries(value: Json, tensors: list[Any]) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(f"the tree has {type(value).__name__} where a list is wanted")
    return [_node(entry, tensors) for entry in value]


def _dtype(value: Json, tensors: list[Any]) -> Any:
    return dtype_named(value)


def dtype_named(name: Any) -> Any:
    """The dtype called `name` ("float32"); FormatError for other texts."""
    found = getattr(taeda, name, None) if isinstance(name, str) and name.isidentifier() else None
    if not isinstance(found, taeda.dtype):
        raise FormatError(f"{name!r} is no dtype")
    return found


def _nonfinite(value: Json, tensors: list[Any]) -> float:
    if value not in ("nan", "inf", "-inf"):
        raise FormatError(f"{value!r} is none of nan, inf and -inf")
    return float(value)


_READERS: dict[str, Callable[[Json, list[Any]], Any]] = {
    "tensor": _tensor,
    "tuple": lambda v, t: tuple(_entries(v, t)),
    "set": lambda v, t: set(_entries(v, t)),
    "frozenset": lambda v, t: frozenset(_entries(v, t)),
    "dict": lambda v, t: dict(_pairs(v, t)),
    "OrderedDict": lambda v, t: OrderedDict(_pairs(v, t)),
    "Counter": lambda v, t: Counter(dict(_pairs(v, t))),
    "Size": lambda v, t: taeda.Size(_entries(v, t)),
    "float": _nonfinite,
    "complex": lambda v, t: complex(*_entries(v, t)),
    "bytes": lambda v, t: base64.b64decode(v, validate=True),
    "bytearray": lambda v, t: bytearray(base64.b64decode(v, validate=True)),
    "dtype": _dtype,
    "device": lambda v, t: taeda.device(v),
}
