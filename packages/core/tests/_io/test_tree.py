"""Objects as JSON and back."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import math
import pathlib
import types
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple

import numpy as np
import pytest

import taeda
from taeda._io.safetensors import FormatError
from taeda._io.tree import decode, encode


def refuse(tensor, path, marks):
    raise AssertionError(f"no tensor expected at {path}")


def round_trip(value):
    return decode(json.loads(json.dumps(encode(value, refuse))), [])


VALUES = [
    None,
    True,
    0,
    10**40,
    -1.5,
    1.0,
    "é\ud800",
    b"\x00\xff",
    bytearray(b"ab"),
    1 - 2.5j,
    [],
    [1, [2.5, None]],
    (1, (2,)),
    {1, 2},
    frozenset([3]),
    {"a": {1: (2, [3])}, None: 4, (1, 2): 5},
    OrderedDict(b=1, a=2),
    Counter("aab"),
    taeda.Size([1, 2]),
    taeda.float16,
    taeda.device("cpu"),
    taeda.strided,
    taeda.channels_last,
    range(1, 10, 3),
    slice(None, 3, -1),
    dt.datetime(2024, 2, 29, 12, 30, 1, 5, dt.timezone(dt.timedelta(hours=2))),
    dt.datetime(2024, 2, 29),
    dt.date(2024, 2, 29),
    dt.time(1, 2, 3),
    dt.timedelta(-1, 5, 7),
    np.dtype("<f4"),
    np.dtype([("a", "<i2"), ("b", "<f8", (2, 3))]),
    deque([1, 2], maxlen=5),
    defaultdict(list, a=[1]),
    defaultdict(None, a=1),
    pathlib.Path("a/b"),
    types.SimpleNamespace(a=1, b=[2]),
    argparse.Namespace(lr=0.1, layers=(1, 2)),
    np.float32(1.5),
    np.float64(0.1),
    np.int16(-3),
    np.bool_(True),
    np.str_("é"),
    np.complex128(1 - 2j),
    np.datetime64("2020-02-02"),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_come_back_with_their_types(value):
    made = round_trip(value)
    assert made == value
    assert repr(made) == repr(value)
    assert type(made) is type(value)


def test_numbers_that_json_has_not():
    assert math.isnan(round_trip(math.nan))
    assert round_trip([math.inf, -math.inf]) == [math.inf, -math.inf]
    assert repr(round_trip(complex(math.inf, math.nan))) == "(inf+nanj)"


def test_what_is_one_object_is_one_again():
    shared, pair = [1], (0.9, 0.999)
    made = round_trip({"a": shared, "b": [shared, {"c": pair}], "d": pair})
    assert made == {"a": [1], "b": [[1], {"c": pair}], "d": pair}
    assert made["a"] is made["b"][0]
    assert made["d"] is made["b"][1]["c"]


def test_what_repeats_is_written_once():
    value = [1]
    for _ in range(60):  # 2**60 lists, if it were not
        value = [value, value]
    made = round_trip(value)
    assert made[0] is made[1]


def test_versions_of_a_module_state_travel_along():
    state = OrderedDict(weight=1)
    state._metadata = OrderedDict({"": {"version": 1}})
    assert round_trip(state)._metadata == state._metadata


def test_tensors_are_handed_over_with_their_path():
    seen = []

    def keep(tensor, path, marks):
        seen.append(path)
        return len(seen) - 1, True

    tensors = [taeda.ones(1), taeda.zeros(1)]
    node = encode({"a": [tensors[0]], 3: {"b": tensors[1]}}, keep)
    assert seen == ["a.0", "3.b"]
    made = decode(node, tensors)
    assert made["a"][0] is tensors[0]
    assert made[3]["b"] is tensors[1]


def inside_itself():
    value = [1]
    value.append({"again": value})
    return value


def deep():
    value = []
    for _ in range(100_000):
        value = [value]
    return value


Pair = namedtuple("Pair", "a b")
REFUSED = [
    (object(), TypeError, "builtins.object"),
    ({"a": [1, print]}, TypeError, "'a.1'"),
    (Pair(1, 2), TypeError, "Pair"),
    (defaultdict(lambda: 3), TypeError, "default_factory"),
    (np.array([print]), TypeError, "Python objects"),
    (inside_itself(), ValueError, "contains itself"),
    (deep(), ValueError, "too deeply"),
]


@pytest.mark.parametrize(("value", "error", "fact"), REFUSED, ids=[r[2] for r in REFUSED])
def test_other_objects_are_refused_with_their_place(value, error, fact):
    with pytest.raises(error, match=fact):
        encode(value, refuse)


def test_who_has_a_state_dict_is_told_to_save_it():
    class Model:
        def state_dict(self):
            return {}

    with pytest.raises(TypeError, match=r"state_dict\(\)"):
        encode(Model(), refuse)


BAD = [
    {"eval": ["1"]},
    {"tuple": 3},
    {"dict": [1]},
    {"dict": [[[1], 2]]},
    {"set": [[1]]},
    {"tensor": 0},
    {"tensor": -1},
    {"tensor": True},
    {"bytes": "no base64"},
    {"bytes": 3},
    {"float": "1"},
    {"complex": [1, 2, 3]},
    {"complex": ["a", 1]},
    {"dtype": "load"},
    {"dtype": "__doc__"},
    {"dtype": 3},
    {"device": "nowhere"},
    {"Size": ["a"]},
    {"tuple": [], "list": []},
    {"tuple": [], "_metadata": 1},
    {"tuple": [], "attributes": []},
    {"again": 0},
    [[], {"again": 1}],
    {"dtype": "nn"},
    {"layout": "float32"},
    {"object": ["os.system", ["true"]]},
    {"object": ["builtins.eval", {}]},
    {"defaultdict": ["eval", []]},
    {"deque": [-1, []]},
    {"namespace": [[1, 2]]},
    {"numpy": ["|O", "AAAAAAAAAAA="]},
    {"numpy": ["<f4", "AAA="]},
    {"numpy": [[["a", "|O"]], ""]},
    {"ndarray": [1, None, []]},
    {"Generator": ["cpu", 1]},
    {"storage": 3},
    {"range": [0, 1, 0]},
    {"slice": [[], 1, 2]},
    {"slice": [1]},
    {"datetime": "yesterday"},
    {"timedelta": [1e300, 0, 0]},
    {"numpy.dtype": "|O"},
    {"Path": 3},
    {},
]


@pytest.mark.parametrize("node", BAD, ids=repr)
def test_trees_that_nobody_wrote_are_refused(node):
    with pytest.raises((FormatError, RuntimeError)):
        decode(node, [])


def test_a_deep_tree_is_refused():
    with pytest.raises(FormatError, match="deeply"):
        decode(deep(), [])
