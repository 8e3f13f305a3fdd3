"""Nodes inside arguments: structures are looked into and keep their kind."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import taeda
from taeda import fx
from taeda.fx._map import map_aggregate, map_arg
from taeda.fx.immutable_collections import immutable_dict, immutable_list


class Pair(NamedTuple):
    first: object
    second: object


def test_every_value_is_mapped_and_structures_stay():
    given = [1, (2, {"k": 3}), Pair(4, slice(5, None, 6))]
    made = map_aggregate(given, lambda v: v if v is None else v * 10)
    assert made == [10, (20, {"k": 30}), Pair(40, slice(50, None, 60))]
    assert type(made) is immutable_list and type(made[1][1]) is immutable_dict
    assert type(made[2]) is Pair


@pytest.mark.parametrize("empty", [(), [], {}])
def test_empty_structures(empty):
    assert map_aggregate(empty, pytest.fail) == empty


def test_only_nodes_are_given_to_the_function():
    graph = fx.Graph()
    x = graph.placeholder("x")
    seen = []
    made = map_arg((x, [x, 1, "x"], slice(x)), lambda node: seen.append(node) or "node")
    assert seen == [x, x, x]
    assert made == ("node", ["node", 1, "x"], slice("node"))


def test_tensors_are_values():
    t = taeda.ones(2)
    assert map_aggregate([t], lambda v: v)[0] is t
