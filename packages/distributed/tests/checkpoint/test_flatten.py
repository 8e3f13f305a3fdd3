"""Nested state dicts as names."""

from __future__ import annotations

import pytest

import taeda
from taeda.distributed.checkpoint._flatten import flatten, set_at


def test_dicts_and_lists_of_tensors_are_taken_apart():
    x = taeda.ones(1)
    state = {
        "a": {"b": x, 3: 4},
        "list": [x, {"c": 5}],
        "plain": [1, 2],
        "pair": (1, 2),
        "none": {},
    }
    values, paths = flatten(state)
    assert list(values) == ["a.b", "a.3", "list.0", "list.1.c", "plain", "pair", "none"]
    set_at(state, paths["list.1.c"], 6)
    set_at(state, paths["a.3"], 7)
    assert state["list"][1]["c"] == 6 and state["a"][3] == 7


def test_refusals():
    with pytest.raises(ValueError, match=r"two entries have the name 'a\.b'"):
        flatten({"a": {"b": 1}, "a.b": 2})
    with pytest.raises(TypeError, match="tuple"):
        flatten({"a": {(1, 2): 1}})
