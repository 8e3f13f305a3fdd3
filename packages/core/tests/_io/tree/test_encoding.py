"""Objects as JSON: what is one stays one, and what is no data is refused."""

from __future__ import annotations

import json
from collections import defaultdict, namedtuple

import numpy as np
import pytest

import taeda
from taeda._io.tree import decode, encode


def refuse(tensor, path, marks):
    raise AssertionError(f"no tensor expected at {path}")


def round_trip(value):
    return decode(json.loads(json.dumps(encode(value, refuse))), [])


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
