"""Structures of tensors over devices; tensors on the two devices of the stand-in driver."""

from __future__ import annotations

import sys
from collections import OrderedDict, namedtuple
from pathlib import Path

import pytest

import taeda
from taeda.nn.parallel import scatter_gather as sg

sys.path.insert(0, str(Path(__file__).parents[4] / "core" / "tests" / "cuda"))
import standin

Pair = namedtuple("Pair", "left right")


def test_what_is_no_tensor_goes_to_all():
    given = Pair({"k": 2}, [None, ("a", [])])
    assert sg.scatter(given, [0, 1]) == (given, given)
    assert type(sg.scatter(given, [0])[0]) is Pair
    assert sg.is_namedtuple(given)
    assert not sg.is_namedtuple((1, 2))
    assert sg.scatter_kwargs((1,), {}, [0, 1]) == (((1,), (1,)), ({}, {}))
    assert sg.scatter_kwargs((), {"a": 1}, [0]) == (((),), ({"a": 1},))


def test_parts_are_joined():
    parts = [
        OrderedDict(a=Pair(taeda.full((n, 2), float(n)), taeda.tensor(n)), b=None) for n in (1, 2)
    ]
    whole = sg.gather(parts, "cpu")
    assert type(whole) is OrderedDict
    assert type(whole["a"]) is Pair
    assert whole["a"].left.tolist() == [[1, 1], [2, 2], [2, 2]]
    assert whole["a"].right.tolist() == [1, 2]
    assert whole["b"] is None


def test_refusals():
    with pytest.raises(ValueError, match="same keys"):
        sg.gather([{"a": taeda.ones(1)}, {"b": taeda.ones(1)}], "cpu")
    with pytest.raises(TypeError, match="lists, tuples and dicts, got str"):
        sg.gather(["a", "b"], "cpu")
    with pytest.raises(ValueError, match="nothing to join"):
        sg.gather([], "cpu")


def test_on_two_devices():
    standin.memory("""
from taeda.nn.parallel.scatter_gather import gather, scatter, scatter_kwargs
x = taeda.arange(10.0).reshape(5, 2)
parts = scatter({"x": x, "n": 3}, [0, 1])
assert [p["x"].device.index for p in parts] == [0, 1] and [p["n"] for p in parts] == [3, 3]
assert [p["x"].tolist() for p in parts] == [x[:3].tolist(), x[3:].tolist()]
assert gather(parts[:1] and [p["x"] for p in parts], "cpu").tolist() == x.tolist()
assert gather([[p["x"]] for p in parts], 1)[0].device.index == 1
assert len(scatter(x[:1], [0, 1])) == 1
rows, named = scatter_kwargs((x[:1],), {"y": x}, [0, 1])
assert len(rows) == len(named) == 2 and rows[1] == ()
""")
