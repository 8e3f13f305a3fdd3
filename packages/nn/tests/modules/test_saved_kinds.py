"""Whole modules in files: every kind of object that attributes of modules hold, each met twice, in
any order.
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
import pytest

import taeda
from taeda import nn
from taeda.nn import functional as F

FORMATS = ("safetensors", "pt")


class Colour(enum.Enum):
    RED = 1


Pair = namedtuple("Pair", "a b")


class Own:
    def __init__(self):
        self.x = [1]


class Outer:
    class Inner(nn.Module):
        pass


class Net(nn.Module):
    pass


def own_function(x):
    return x


def with_attribute(kind):
    made = kind(taeda.ones(2))
    made.note = [1]
    return made


def versions(value):
    made = OrderedDict(a=1)
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


pytestmark = pytest.mark.filterwarnings("ignore:a file holds objects of:UserWarning")


def back(value, form):
    file = io.BytesIO()
    taeda.save(value, file, format=form)
    file.seek(0)
    return taeda.load(file, weights_only=False)


def holding(values):
    """A module that has each value twice, beside containers that are met twice as well."""
    made = Net()
    made.rows = [[value] for value in values.values()]
    for number, (name, value) in enumerate(values.items()):
        setattr(made, name, value)
        setattr(made, f"row_{name}", made.rows[number])
    for name, value in values.items():
        setattr(made, f"again_{name}", value)
    return made


def check(made, values):
    for number, (name, value) in enumerate(values.items()):
        first, second = getattr(made, name), getattr(made, f"again_{name}")
        row = getattr(made, f"row_{name}")
        assert row is made.rows[number], name
        assert type(first) is type(value) is type(second) is type(row[0]), name
        assert isinstance(value, COPIED) or first is second is row[0], name
        assert shown(first) == shown(value), name


def shown(value):
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
    return str(value)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("step", [1, -1])
def test_each_kind_comes_back_beside_all_others(form, step):
    names = list(KINDS[form])[::step]
    for begin in range(len(names)):
        values = {name: KINDS[form][name]() for name in names[begin:] + names[:begin]}
        check(back(holding(values), form), values)


@pytest.mark.parametrize("form", FORMATS)
def test_each_kind_comes_back_alone(form):
    for name, make in KINDS[form].items():
        values = {name: make()}
        check(back(holding(values), form), values)


@pytest.mark.parametrize("form", FORMATS)
def test_modules_of_a_file_have_their_own_tables(form):
    made = back(nn.Sequential(nn.ReLU(), nn.ReLU()), form)
    called = []
    made[0].register_forward_hook(lambda *_: called.append(1))
    made[1](taeda.ones(1))
    assert not called


BUILT_IN = (list, dict, set, deque, functools.partial)
DERIVED = [type(f"Derived_{kind.__name__}", (kind,), {"__module__": __name__}) for kind in BUILT_IN]
globals().update({kind.__name__: kind for kind in DERIVED})  # files find them by name


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", DERIVED, ids=lambda kind: kind.__name__)
def test_what_has_more_than_fields_is_refused_when_it_is_saved(form, kind):
    made = Net()
    made.value = kind(len) if issubclass(kind, functools.partial) else kind()
    with pytest.raises(TypeError, match="cannot be made from data alone"):
        taeda.save(made, io.BytesIO(), format=form)


def noted(*given):
    """A hook that files find by its name."""
    SEEN.append(len(given))


SEEN: list[int] = []
REGISTER = sorted(
    name for name in dir(nn.Module) if name.startswith("register_") and name.endswith("hook")
)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("register", REGISTER)
def test_a_module_that_had_a_hook_is_saved(form, register):
    made = nn.Sequential(nn.Linear(2, 2))
    getattr(made, register)(noted).remove()
    made[0].register_forward_hook(noted).remove()
    loaded = _again(made, form)
    loaded(taeda.ones(1, 2)).sum().backward()
    loaded.load_state_dict(loaded.state_dict())
    assert not SEEN


#: wraps the hook for its module, and what is wrapped has no name
WRAPPED = {"register_state_dict_post_hook"}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("register", sorted(set(REGISTER) - WRAPPED))
def test_hooks_that_have_a_name_are_saved_with_their_module_and_run(form, register):
    made = nn.Linear(2, 2)
    getattr(made, register)(noted)
    loaded = _again(made, form)
    getattr(loaded, register)(print).remove()  # has a key of its own
    loaded(taeda.ones(1, 2, requires_grad=True)).sum().backward()
    loaded.load_state_dict(loaded.state_dict())
    assert SEEN
    SEEN.clear()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("register", sorted(WRAPPED))
def test_hooks_without_a_name_are_refused(form, register):
    made = nn.Linear(2, 2)
    getattr(made, register)(noted)
    with pytest.raises(TypeError, match="data, not code"):
        taeda.save(made, io.BytesIO(), format=form)


def test_a_table_of_hooks_that_is_none_is_refused():
    state = nn.Linear(2, 2).__getstate__()
    for wrong in ([noted], {"first": noted}):
        with pytest.raises(TypeError, match="no table of hooks _forward_hooks"):
            nn.Linear(2, 2).__setstate__({**state, "_forward_hooks": wrong})


def _again(module, form):
    file = io.BytesIO()
    taeda.save(module, file, format=form)
    file.seek(0)
    with pytest.warns(UserWarning, match="weights_only"):
        return taeda.load(file, weights_only=False)
