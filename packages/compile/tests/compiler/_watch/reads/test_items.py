from __future__ import annotations

import collections

import pytest

import taeda
from taeda import nn


@pytest.mark.parametrize(
    ("owner", "key", "other"),
    [([2.0, 3.0], 0, 4.0), ({"a": 2.0}, "a", 4.0), (collections.deque([2.0]), 0, 4.0)],
    ids=["list", "dict", "deque"],
)
def test_an_item_is_guarded(watch, owner, key, other):
    observer, result = watch(lambda x: x * owner[key], taeda.ones(1))
    assert (observer.reason, result.item()) == ("", 2)
    holds, _ = observer.guards.compiled()
    assert holds()
    owner[key] = other
    assert not holds()


def test_only_that_item_is_guarded(watch):
    table = {"a": 2.0, "b": 3.0}
    observer, _ = watch(lambda x: x * table["a"], taeda.ones(1))
    table["b"] = 4.0
    assert observer.guards.compiled()[0]()


def test_a_default_would_be_made(watch):
    table = collections.defaultdict(float)
    observer, _ = watch(lambda x: x * table["a"], taeda.ones(1))
    assert observer.reason == "it makes an entry of a dict that was there before"


@pytest.mark.parametrize(
    ("value", "reason"), [(2.0, ""), (3.0, "it stores into a container that was there before")]
)
def test_stores(watch, value, reason):
    table = {"a": 2.0}

    def program(x, value):
        table["a"] = value

    observer, _ = watch(program, taeda.ones(1), value)
    assert observer.reason == reason
    assert table == {"a": value}


def test_a_store_into_what_the_run_made(watch):
    def program(x):
        made = {}
        made["a"] = x
        made["a"] += 1
        return made

    observer, result = watch(program, taeda.ones(1))
    assert (observer.reason, result["a"].item()) == ("", 2)


def test_layers_of_a_module(watch):
    net = nn.Sequential(nn.ReLU(), nn.Tanh())
    observer, _ = watch(lambda x: net[1](x), taeda.ones(1))
    holds, _ = observer.guards.compiled()
    assert holds()
    net[1] = nn.ReLU()
    assert not holds()


def test_items_by_a_method_of_the_program(watch):
    class Table:
        def __init__(self):
            self.scale = 3.0

        def __getitem__(self, key):
            return key * self.scale

    table = Table()
    observer, result = watch(lambda x: x * table[2], taeda.ones(1))
    assert (observer.reason, result.item()) == ("", 6)
    table.scale = 1.0
    assert not observer.guards.compiled()[0]()
