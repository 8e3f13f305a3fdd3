"""Objects as JSON and back."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import math
import pathlib
import types
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np
import pytest

import taeda
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


def test_versions_of_a_module_state_travel_along():
    state = OrderedDict(weight=1)
    state._metadata = OrderedDict({"": {"version": 1}})
    assert round_trip(state)._metadata == state._metadata
