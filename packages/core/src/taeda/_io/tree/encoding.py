"""Python objects as JSON."""

from __future__ import annotations

import argparse
import base64
import datetime as dt
import enum
import math
import pathlib
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

import taeda
from taeda import Tensor

from .. import safetypes
from ..layouts import facts_of, has_parts
from ..steps import DEEPEST, GeneratorType, Steps, drive
from .arrays import array_node, dtype_node, is_numpy, scalar_node

__all__ = ["FACTORIES", "MODULE_VERSIONS", "Json", "Keep", "encode", "has_state"]

Json = Any
Keep = Callable[[Tensor, str, list[str]], tuple[int, bool]]

_MAPPINGS: dict[type, str] = {dict: "dict", OrderedDict: "OrderedDict", Counter: "Counter"}
_SEQUENCES: dict[type, str] = {tuple: "tuple", set: "set", frozenset: "frozenset"}
_BAGS: dict[type, str] = {types.SimpleNamespace: "namespace", argparse.Namespace: "Namespace"}
FACTORIES = {kind.__name__: kind for kind in (int, float, str, bool, list, dict, set, tuple)}
MODULE_VERSIONS = "_metadata"  # what a module's state_dict() carries beside its entries
_PLAIN = frozenset({int, bool, str, type(None)})


def encode(value: Any, keep: Keep) -> Json:
    """`value` as JSON. `keep(tensor, path, marks)` takes a tensor and says its number, and if it is new.

    The mark "data" stands at a tensor that is part of an object, and no tensor by itself.

    TypeError for an object of another kind and ValueError for a container inside itself, both with
    the path to it.
    """
    encoder = _Encoder(keep)
    made = encoder.node(value, "")
    return encoder.drive(made) if type(made) is GeneratorType else made


class _Encoder:
    def __init__(self, keep: Keep) -> None:
        self.keep = keep
        self.open: set[int] = set()  # containers on the way down to here
        self.complete: dict[int, int] = {}  # number of each container
        self.alive: list[Any] = []  # keeps ids from being used again
        self.families = 0  # objects on the way down whose classes are recorded by name
        self.path = ""  # of the container that was opened last

    def drive(self, steps: Steps) -> Json:
        """What comes of the steps."""
        too_deep = ValueError("nested too deeply")
        try:
            return drive(steps, too_deep)
        except ValueError as error:
            if error is not too_deep:
                raise
            raise ValueError(
                f"cannot save {_place(self.path)}: nested too deeply, more than {DEEPEST} levels"
            ) from None

    def node(self, value: Any, path: str) -> Json | Steps:
        """The JSON of a value; of one with parts the steps to it."""
        if type(value) in _PLAIN:
            return value
        if isinstance(value, Tensor):
            return self.tensor(value, path)
        if is_numpy(value):
            return scalar_node(value, path)
        if isinstance(value, (int, float, str, complex, bytes, bytearray)) and not _allowed(value):
            return _scalar(value)
        simple = _simple(value) or dtype_node(value, path)
        return self.container(value, path) if simple is None else simple

    def data(self, value: Tensor, path: str) -> Json:
        """A tensor whose numbers are wanted wherever other tensors go."""
        return {"tensor": self.keep(value, path, ["data"])[0]}

    def tensor(self, value: Tensor, path: str) -> Json | Steps:
        if has_parts(value):
            return self.container(value, path)
        number, new = self.keep(value, path, [])
        attributes = getattr(value, "__dict__", None) if new else None
        return self.noted(number, attributes, path) if attributes else {"tensor": number}

    def noted(self, number: int, attributes: dict[str, Any], path: str) -> Steps:
        return {"tensor": number, "attributes": (yield from self.pairs(attributes, path))}

    def sparse(self, value: Tensor, path: str) -> Steps:
        name, parts, size, is_coalesced = facts_of(value)
        marks = [is_coalesced, value.requires_grad, type(value).__name__ == "Parameter"]
        self.alive += parts
        node = {"sparse": [name, [self.data(part, path) for part in parts], list(size), *marks]}
        if vars(value):
            node["attributes"] = yield from self.pairs(vars(value), path)
        return node

    def container(self, value: Any, path: str) -> Json | Steps:
        if id(value) in self.complete:
            return {"again": self.complete[id(value)]}
        if id(value) in self.open:
            raise ValueError(f"cannot save {_place(path)}: it contains itself")
        return self.opened(value, path)

    def opened(self, value: Any, path: str) -> Steps:
        self.open.add(id(value))
        self.path = path
        self.alive.append(value)
        made = yield from self.entries(value, path)
        self.open.remove(id(value))
        self.complete[id(value)] = len(self.complete)
        return made

    def entries(self, value: Any, path: str) -> Steps:
        kind = type(value)
        if kind is list:
            return (yield from self.values(value, path))
        if kind in _MAPPINGS:
            node = {_MAPPINGS[kind]: (yield from self.pairs(value, path))}
            if hasattr(value, MODULE_VERSIONS):
                node[MODULE_VERSIONS] = yield from self.one(getattr(value, MODULE_VERSIONS), path)
            return node
        if kind in _SEQUENCES:
            return {_SEQUENCES[kind]: (yield from self.values(value, path))}
        return (yield from self.rare(value, path))

    def one(self, value: Any, path: str) -> Steps:
        made = self.node(value, path)
        return (yield made) if type(made) is GeneratorType else made

    def rare(self, value: Any, path: str) -> Steps:
        kind = type(value)
        if isinstance(value, Tensor):
            return (yield from self.sparse(value, path))
        if kind is taeda.Size:
            return {"Size": list(value)}
        if kind is deque:
            return {"deque": [value.maxlen, (yield from self.values(value, path))]}
        if kind in _BAGS:
            return {_BAGS[kind]: (yield from self.pairs(vars(value), path))}
        if kind is defaultdict and (factory := _factory(value)) is not None:
            return {"defaultdict": [factory, (yield from self.pairs(value, path))]}
        if kind is taeda.Generator:
            return {"Generator": [str(value.device), self.data(value.get_state(), path)]}
        if kind is taeda.UntypedStorage:
            return {"storage": self.data(value._bytes, path)}
        if is_numpy(value, array=True):
            return array_node(value, path, self.data)
        if (name := self.recorded(value, path)) is not None:
            return (yield from self.instance(value, name, path))
        if self.families and (name := safetypes.findable_name(value)) is not None:
            return {"name": name}
        if isinstance(value, type) and (name := safetypes.name_of(value)) is not None:
            return {"name": name}
        raise TypeError(_unsavable(value, path))

    def recorded(self, value: Any, path: str) -> str | None:
        """The name under which the class of an object is recorded: of one that is allowed, of a
        module, of what a module has.
        """
        kind = type(value)
        name = safetypes.name_of(kind)
        if name is not None or not (self.families or safetypes.family_of(kind)):
            return name
        if isinstance(value, type) or not has_state(value):
            return None
        name = safetypes.findable_name(kind)
        if name is None and safetypes.family_of(kind):
            raise TypeError(
                f"cannot save {_place(path)}: its class {kind.__qualname__} is defined inside a "
                "function, where no file can "
                "find it. Define the class at the top of a module, or save its state_dict()"
            )
        return name

    def instance(self, value: Any, name: str, path: str) -> Steps:
        family = safetypes.family_of(type(value)) is not None
        self.families += family
        made = {"object": [name, (yield from self.one(safetypes.state_of(value), path))]}
        self.families -= family
        return made

    def values(self, values: Iterable[Any], path: str) -> Steps:
        start = f"{path}." if path else ""
        made = []
        for i, v in enumerate(values):
            node = v if type(v) in _PLAIN else self.node(v, f"{start}{i}")
            made.append((yield node) if type(node) is GeneratorType else node)
        return made

    def pairs(self, mapping: Any, path: str) -> Steps:
        start = f"{path}." if path else ""
        made = []
        for k, v in mapping.items():
            key = k if type(k) in _PLAIN else self.node(k, path)
            if type(key) is GeneratorType:
                key = yield key
            node = v if type(v) in _PLAIN else self.node(v, f"{start}{k}")
            made.append([key, (yield node) if type(node) is GeneratorType else node])
        return made


def has_state(value: Any) -> bool:
    """Whether fields make up an object: of functions, modules of Python, locks and the like they do not."""
    kind = type(value)
    return not isinstance(
        value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)
    ) and (
        isinstance(value, (enum.Enum, tuple))
        or (kind.__module__ != "builtins" and hasattr(value, "__dict__"))
    )


def _allowed(value: Any) -> bool:
    return safetypes.name_of(type(value)) is not None


def _factory(value: defaultdict[Any, Any]) -> str | None:
    """The name of what makes missing values ("" for nothing); None if no file can name it."""
    if value.default_factory is None:
        return ""
    return next((n for n, kind in FACTORIES.items() if kind is value.default_factory), None)


def _place(path: str) -> str:
    shown = path if len(path) <= 200 else f"{path[:200]}..."
    return f"the object at '{shown}'" if path else "the object"


def _unsavable(value: Any, path: str) -> str:
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    advice = "save tensors, numbers, texts, and lists, tuples, sets and dicts of them"
    if hasattr(value, "state_dict"):
        advice = "save its state_dict()"
    elif isinstance(value, defaultdict):
        advice = f"its default_factory must be None or one of {', '.join(FACTORIES)}"
    elif isinstance(value, tuple) or hasattr(value, "__dict__"):
        advice += f", or allow the class with taeda.serialization.add_safe_globals([{type(value).__name__}])"
    return f"cannot save {_place(path)}, a {name}: files hold data, not code; {advice}"


def _scalar(value: Any) -> Json:
    if isinstance(value, (bytes, bytearray)):
        kind = "bytes" if isinstance(value, bytes) else "bytearray"
        return {kind: base64.b64encode(value).decode()}
    if isinstance(value, complex):
        return {"complex": [_scalar(value.real), _scalar(value.imag)]}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    return int(value) if isinstance(value, int) else str(value)


def _of_ints(value: slice) -> bool:
    return all(part is None or type(part) is int for part in (value.start, value.stop, value.step))


_TIMES = {dt.datetime, dt.date, dt.time, dt.timedelta}


def _time(value: Any) -> Json | None:
    if isinstance(value, dt.timedelta):
        return {"timedelta": [value.days, value.seconds, value.microseconds]}
    zone = getattr(value, "tzinfo", None)
    if zone is not None and type(zone) is not dt.timezone:
        return None  # the name of a zone would be lost
    return {type(value).__name__: value.isoformat()}


def _simple(value: Any) -> Json | None:
    """Values without parts; None for others."""
    if isinstance(value, taeda.dtype):
        return {"dtype": str(value).rpartition(".")[2]}
    if isinstance(value, taeda.device):
        return {"device": str(value)}
    if isinstance(value, (taeda.layout, taeda.memory_format)):
        return {type(value).__name__: str(value).rpartition(".")[2]}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]} if _of_ints(value) else None
    if type(value) in _TIMES:
        return _time(value)
    if isinstance(value, range):
        return {"range": [value.start, value.stop, value.step]}
    if isinstance(value, pathlib.Path):
        return {"Path": str(value)}
    return None
