"""How deep an object from a file nests."""

from __future__ import annotations

from collections import OrderedDict, deque
from types import SimpleNamespace

import pytest

import taeda
from taeda._io.pt import names
from taeda._io.pt.errors import RefusedPickle
from taeda._io.pt.nesting import check_nesting

WRAPS = {
    "list": lambda x: [x],
    "tuple": lambda x: (x,),
    "dict": lambda x: {"k": x},
    "deque": lambda x: deque([x]),
    "field": lambda x: SimpleNamespace(k=x),
}


@pytest.mark.parametrize("kind", WRAPS)
def test_a_thousand_levels(kind):
    value = [1]
    for _ in range(999):
        value = WRAPS[kind](value)
    check_nesting(value)
    with pytest.raises(RefusedPickle, match="nested deeper than 1000 levels"):
        check_nesting(WRAPS[kind](WRAPS[kind](value)))


def test_a_shared_part_counts_from_where_it_hangs_deepest():
    deep = [1]
    for _ in range(600):
        deep = [deep]
    check_nesting([deep, deep, [deep]])
    chain = deep
    for _ in range(600):
        chain = [chain]
    with pytest.raises(RefusedPickle, match="deeper"):
        check_nesting([deep, chain])


def test_what_doubles_at_each_level_is_looked_at_once():
    value = [1]
    for _ in range(500):
        value = [value, value]
    check_nesting(value)


@pytest.mark.parametrize("make", [lambda x: x.append(x), lambda x: x.append({"k": (x,)})])
def test_what_contains_itself(make):
    value = [1]
    make(value)
    with pytest.raises(RefusedPickle, match="contains itself"):
        check_nesting(value)


def test_names_are_no_data():
    known = names.find("torch", "FloatStorage")
    for value in (known, [known], {"a": (1, known)}, SimpleNamespace(k=known), [[known] * 20]):
        with pytest.raises(RefusedPickle, match="which is a name and no data"):
            check_nesting(value)


def test_attributes_are_looked_into():
    state = OrderedDict(a=taeda.ones(1))
    state._metadata = {"v": [1]}
    check_nesting([state, taeda.ones(1), int, object(), "text", 3])
    tensor = taeda.ones(1)
    tensor.note = [tensor]
    with pytest.raises(RefusedPickle, match="contains itself"):
        check_nesting({"t": tensor})
