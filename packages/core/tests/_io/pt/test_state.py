"""What an object is given after it was made: only attributes that hold data."""

from __future__ import annotations

from argparse import Namespace
from collections import OrderedDict
from types import SimpleNamespace

import numpy as np
import pytest

import taeda
from taeda._io.budget import Budget
from taeda._io.place import Place
from taeda._io.pt import arrays
from taeda._io.pt.context import Context
from taeda._io.pt.errors import RefusedPickle
from taeda._io.pt.state import build

CONTEXT = Context(Budget(1 << 20), Place(None))


def test_data_takes_its_state():
    state = OrderedDict(a=1)
    build(state, {"_metadata": {"v": 1}}, CONTEXT)
    assert state._metadata == {"v": 1}
    build(state, {}, CONTEXT)
    record = arrays.DtypeRecord("i4")
    build(record, (3, ">", None, None, None, -1, -1, 0), CONTEXT)
    assert record.order == ">"
    array = np.empty(0, np.int8)
    build(array, (1, (2,), arrays.DtypeRecord("i1"), False, b"\1\2"), CONTEXT)
    assert array.tolist() == [1, 2]
    for kind in (Namespace, SimpleNamespace):
        space = kind()
        build(space, {"a": 1}, CONTEXT)
        assert space.a == 1


def test_tensors_take_attributes_and_their_old_state():
    x = taeda.ones(2)
    build(x, {"note": [1]}, CONTEXT)
    build(x, ({"more": 2}, None), CONTEXT)
    assert (x.note, x.more) == ([1], 2)
    build(x, (True, False, {}), CONTEXT)
    assert x.requires_grad
    whole = taeda.tensor([1])
    build(whole, (True, False, OrderedDict()), CONTEXT)  # integers have no gradient
    assert not whole.requires_grad
    build(x, None, CONTEXT)


@pytest.mark.parametrize(
    ("target", "given", "words"),
    [
        (OrderedDict(), {"other": 1}, "attributes other than _metadata"),
        (OrderedDict(), 3, "attributes other than _metadata"),
        (taeda.ones(1), (1, False, {}), "something else than requires_grad"),
        (taeda.ones(1), (True, False, {"h": 1}), "something else than requires_grad"),
        (taeda.ones(1), [1], "no plain names"),
        (taeda.ones(1), {"a b": 1}, "no plain names"),
        (taeda.ones(1), {"__class__": 1}, "no plain names"),
        (taeda.ones(1), {3: 1}, "no plain names"),
        (taeda.ones(1), {"shape": 1}, "in place of its own 'shape'"),
        ([1], {"a": 1}, "a list is given attributes, and has none"),
        ("text", {"a": 1}, "a str is given attributes"),
    ],
)
def test_refusals(target, given, words):
    with pytest.raises(RefusedPickle, match=words):
        build(target, given, CONTEXT)
