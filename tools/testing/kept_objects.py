"""Every kind of object that attributes of modules hold, and what a file gives back of them. Files find what
is defined here by its name.
"""

from __future__ import annotations

import datetime as dt
import enum
import functools
import io
import pathlib
import types
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

import taeda
from taeda import nn
from taeda.nn import functional as F

__all__ = ["COPIED", "FORMATS", "KINDS", "Net", "Own", "Pair", "back", "shown"]

FORMATS = ("safetensors", "pt")


class Colour(enum.Enum):
    RED = 1


Pair = namedtuple("Pair", "a b")


class Own:
    def __init__(self) -> None:
        self.x = [1]


class Outer:
    class Inner(nn.Module):
        pass


class Net(nn.Module):
    pass


def own_function(x: Any) -> Any:
    return x


def with_attribute(kind: Any) -> Any:
    made = kind(taeda.ones(2))
    made.note = [1]
    return made


def versions(value: Any) -> Any:
    made: Any = OrderedDict(a=1)
    made._metadata = value
    return made


#: how a value of each kind is made; every call makes another
BOTH: dict[str, Callable[[], Any]] = {
    "function": lambda: F.relu,
    "own_function": lambda: own_function,
    "builtin": lambda: len,
    "operator": lambda: taeda.relu,
    "layer": lambda: nn.ReLU,
    "class": lambda: Own,
    "list": lambda: [1, [2]],
    "empty_list": list,
    "tuple": lambda: (1, (2,)),
    "empty_tuple": tuple,
    "dict": lambda: {"a": [1]},
    "set": lambda: {1, 2},
    "frozenset": lambda: frozenset({1}),
    "OrderedDict": lambda: OrderedDict(a=1),
    "versions": lambda: versions({"version": 1}),
    "empty_versions": lambda: versions([]),
    "state_dict": lambda: nn.Linear(2, 2).state_dict(),
    "Counter": lambda: Counter("aab"),
    "defaultdict": lambda: defaultdict(list, a=[1]),
    "deque": lambda: deque([1, 2], 3),
    "namespace": lambda: types.SimpleNamespace(a=[1]),
    "Size": lambda: taeda.Size([1, 2]),
    "dtype": lambda: taeda.float32,
    "device": lambda: taeda.device("cpu"),
    "layout": lambda: taeda.strided,
    "storage": lambda: taeda.ones(2).untyped_storage(),
    "typed_storage": lambda: taeda.ones(2).storage(),
    "tensor": lambda: taeda.ones(2),
    "tensor_with_attribute": lambda: with_attribute(taeda.clone),
    "Parameter": lambda: nn.Parameter(taeda.ones(2)),
    "frozen": lambda: nn.Parameter(taeda.ones(2), requires_grad=False),
    "Buffer": lambda: nn.Buffer(taeda.ones(2)),
    "transient_Buffer": lambda: nn.Buffer(taeda.ones(2), persistent=False),
    "UninitializedParameter": nn.UninitializedParameter,
    "module": lambda: nn.Linear(1, 1),
    "inner_class": Outer.Inner,
    "activation": lambda: nn.TransformerEncoderLayer(4, 2, 8, activation="gelu"),
    "recurrent": lambda: nn.LSTM(1, 1),
    "Sequential": lambda: nn.Sequential(nn.ReLU()),
    "ParameterDict": lambda: nn.ParameterDict({"a": nn.Parameter(taeda.ones(1))}),
    "array": lambda: np.arange(3),
    "numpy_number": lambda: np.float32(1),
    "float": lambda: 1.5,
    "infinity": lambda: float("inf"),
    "complex": lambda: 1 + 2j,
    "bytes": lambda: b"ab",
    "bytearray": lambda: bytearray(b"ab"),
    "text": lambda: "abc",
    "None": lambda: None,
    "long": lambda: 10**30,
    "range": lambda: range(3),
    "path": lambda: pathlib.Path("a"),
    "enum": lambda: Colour.RED,
    "namedtuple": lambda: Pair(1, [2]),
    "object": Own,
    "partial": lambda: functools.partial(F.relu, inplace=True),
}
SAFETENSORS_ONLY: dict[str, Callable[[], Any]] = {
    "memory_format": lambda: taeda.channels_last,
    "Generator": taeda.Generator,
    "texts": lambda: np.array("ab"),
    "numpy_dtype": lambda: np.dtype("f4"),
    "slice": lambda: slice(1, 2),
    "datetime": lambda: dt.datetime(2020, 1, 1),
}
KINDS = {"safetensors": {**BOTH, **SAFETENSORS_ONLY}, "pt": BOTH}
#: what is made anew at each place: none of it has parts
COPIED = (str, int, float, complex, bytes, bytearray, range, slice, dt.datetime, pathlib.Path,
          np.generic, taeda.device)  # fmt: skip


def back(value: Any, form: str) -> Any:
    file = io.BytesIO()
    taeda.save(value, file, format=form)
    file.seek(0)
    return taeda.load(file, weights_only=False)


def shown(value: Any) -> Any:
    """What a value is, for a comparison."""
    if isinstance(value, nn.Module):
        return [(name, value.shape) for name, value in value.named_parameters()]
    if isinstance(value, (taeda.Tensor, np.ndarray)):
        return getattr(value, "note", 0), getattr(value, "persistent", 0), str(value)
    if isinstance(value, (Own, functools.partial)):
        return {n: shown(v) for n, v in vars(value).items()}, getattr(value, "keywords", None)
    if isinstance(value, (taeda.UntypedStorage, taeda.TypedStorage)):
        return value.tolist()
    if isinstance(value, taeda.Generator):
        return value.get_state().tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))  # their order hangs on hashes, and on how they were made
    return str(value)
