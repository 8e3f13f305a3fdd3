"""Leaves and tensors of nested arguments."""

from collections import OrderedDict, namedtuple

import taeda
from taeda._core_api.trees import leaves, tensors_in

Pair = namedtuple("Pair", "left right")


def test_leaves_come_in_order_through_every_kind_of_container():
    tree = [1, (2, {"a": 3, "b": [4]}), Pair(5, OrderedDict(c=6)), "78", {9}]
    assert list(leaves(tree)) == [1, 2, 3, 4, 5, 6, "78", {9}]
    assert list(leaves(None)) == [None] and list(leaves([(), {}])) == []


def test_tensors_come_as_often_as_they_are_there():
    x, y = taeda.ones(2), taeda.zeros(())
    found = list(tensors_in([x, {"y": y, "n": 1.0}, (x, None)]))
    assert [id(t) for t in found] == [id(x), id(y), id(x)]
    assert next(tensors_in(x)) is x and not list(tensors_in(3))
