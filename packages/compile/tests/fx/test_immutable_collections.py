"""Arguments of nodes cannot be changed behind the graph."""

from __future__ import annotations

import copy
import pickle

import pytest

import taeda
from taeda import fx
from taeda.fx.immutable_collections import immutable_dict, immutable_list


def test_arguments_cannot_be_changed_behind_the_graph():
    gm = fx.symbolic_trace(lambda x: taeda.cat([x, x], dim=0))
    node = gm.graph.find_nodes(op="call_function", target=taeda.cat)[0]
    with pytest.raises(TypeError, match="does not support mutation"):
        node.args[0].append(1)
    with pytest.raises(TypeError, match="does not support mutation"):
        node.kwargs["dim"] = 1


LIST_CHANGES = [
    lambda v: v.append(1), lambda v: v.extend([1]), lambda v: v.insert(0, 1), lambda v: v.pop(),
    lambda v: v.remove(1), lambda v: v.clear(),
    lambda v: v.sort(), lambda v: v.reverse(), lambda v: v.__setitem__(0, 1),
    lambda v: v.__delitem__(0), lambda v: v.__iadd__([1]),
    lambda v: v.__imul__(2),
]  # fmt: skip
DICT_CHANGES = [
    lambda v: v.update(a=1), lambda v: v.pop("a"), lambda v: v.popitem(),
    lambda v: v.setdefault("b", 1), lambda v: v.clear(),
    lambda v: v.__setitem__("a", 1), lambda v: v.__delitem__("a"), lambda v: v.__ior__({"a": 1}),
]  # fmt: skip


@pytest.mark.parametrize("change", LIST_CHANGES)
def test_a_list_stays(change):
    value = immutable_list([1, 2])
    with pytest.raises(TypeError, match="'immutable_list' object does not support mutation"):
        change(value)
    assert value == [1, 2]


@pytest.mark.parametrize("change", DICT_CHANGES)
def test_a_dict_stays(change):
    value = immutable_dict({"a": 2})
    with pytest.raises(TypeError, match="'immutable_dict' object does not support mutation"):
        change(value)
    assert value == {"a": 2}


@pytest.mark.parametrize("value", [immutable_list([1, (2,)]), immutable_dict({"a": 1})])
def test_they_hash_by_value_and_are_pickled_and_copied(value):
    for other in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), type(value)(value)):
        assert other == value and type(other) is type(value) and hash(other) == hash(value)
    assert hash(immutable_list([1])) == hash((1,))
