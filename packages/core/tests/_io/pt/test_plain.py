"""Containers, numbers, sizes and devices, each made of good arguments and of bad ones."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict, deque
from pathlib import Path

import pytest

import taeda
from taeda._io.budget import Budget
from taeda._io.place import Place
from taeda._io.pt import plain
from taeda._io.pt.context import Context, Known
from taeda._io.pt.errors import RefusedPickle

CONTEXT = Context(Budget(1 << 20), Place(None))


def factory(name):
    return Known(name, lambda arguments, context: None)


GOOD = [
    (plain.ordered_dict, (), OrderedDict()),
    (plain.ordered_dict, ([["a", 1], ("b", 2)],), OrderedDict(a=1, b=2)),
    (plain.counter, (), Counter()),
    (plain.counter, ({"a": 2},), Counter(a=2)),
    (plain.default_dict, (), defaultdict(None)),
    (plain.default_dict, (None,), defaultdict(None)),
    (plain.default_dict, (factory("builtins long"),), defaultdict(int)),
    (plain.set_of(set), (), set()),
    (plain.set_of(frozenset), ([1, 2],), frozenset({1, 2})),
    (plain.bytes_of_text, ("\xe9a", "latin1"), b"\xe9a"),
    (plain.bytes_of_text, ("a", "latin-1"), b"a"),
    (plain.no_bytes, (), b""),
    (plain.bytearray_, (), bytearray()),
    (plain.bytearray_, (b"ab",), bytearray(b"ab")),
    (plain.complex_, (1.0, -2.0), 1 - 2j),
    (plain.size, ((2, 3),), taeda.Size([2, 3])),
    (plain.deque_, (), deque()),
    (plain.deque_, ([1, 2, 3], 2), deque([2, 3], 2)),
    (plain.range_, (1, 9, 3), range(1, 9, 3)),
    (plain.namespace(Namespace), (), Namespace()),
    (plain.path, ("a", "b"), Path("a/b")),
    (plain.device, ("cpu",), taeda.device("cpu")),
    (plain.device, ("cuda", 1), taeda.device("cuda:1")),
    (plain.layout, ("torch.strided",), taeda.strided),
    (plain.layout, ("torch.sparse_csr",), taeda.sparse_csr),
]


@pytest.mark.parametrize(("make", "arguments", "wanted"), GOOD)
def test_made(make, arguments, wanted):
    made = make(arguments, CONTEXT)
    assert made == wanted and type(made) is type(wanted)
    if isinstance(made, defaultdict):
        assert made.default_factory is wanted.default_factory
    if isinstance(made, deque):
        assert made.maxlen == wanted.maxlen


BAD = [
    (plain.ordered_dict, (1,), "OrderedDict cannot be made of"),
    (plain.ordered_dict, ([[1]],), "made of pairs"),
    (plain.ordered_dict, ([1],), "made of pairs"),
    (plain.ordered_dict, ([[[], 1]],), "key"),
    (plain.counter, ([],), "a Counter cannot be made of"),
    (plain.default_dict, (int,), "a defaultdict cannot be made of"),
    (plain.default_dict, (factory("builtins eval"),), "cannot have builtins eval"),
    (plain.set_of(set), (1,), "a set cannot be made of"),
    (plain.set_of(set), ([[]],), "key"),
    (plain.bytes_of_text, ("a", "utf-8"), "in the code 'utf-8'"),
    (plain.bytes_of_text, ("€", "latin1"), "a text with other characters"),
    (plain.bytes_of_text, ("a",), "bytes cannot be made of"),
    (plain.no_bytes, (1,), "bytes cannot be made of"),
    (plain.bytearray_, ("a",), "a bytearray cannot be made of"),
    (plain.complex_, (1, 2), "a complex number cannot be made of"),
    (plain.size, (3,), "a Size cannot be made of"),
    (plain.size, ((-1,),), "a Size is a tuple of numbers from 0, got .int, ...."),
    (plain.size, ((True,),), "numbers from 0"),
    (plain.size, ((1 << 63,),), "numbers from 0"),
    (plain.deque_, (1,), "a list and its greatest length"),
    (plain.deque_, ([], -1), "a list and its greatest length"),
    (plain.deque_, ([], 1 << 40), "a list and its greatest length"),
    (plain.deque_, ([], "2"), "a list and its greatest length"),
    (plain.range_, (0, 9, 0), "a step of 0"),
    (plain.range_, (0, 9), "a range cannot be made of"),
    (plain.namespace(Namespace), (1,), "a namespace cannot be made of"),
    (plain.path, (1,), "made of texts"),
    (plain.path, ("a\0b",), "made of texts"),
    (plain.device, (), "its kind and a number"),
    (plain.device, ("cpu", 0, 0), "its kind and a number"),
    (plain.device, (1.5,), "its kind and a number"),
    (plain.device, ("CPU!",), "is no device"),
    (plain.device, ("abacus",), "'abacus' is no device here"),
    (plain.layout, ("torch.jagged",), "to_dense"),
    (plain.layout, (), "to_dense"),
]


@pytest.mark.parametrize(("make", "arguments", "message"), BAD)
def test_refused(make, arguments, message):
    with pytest.raises(RefusedPickle, match=message):
        make(arguments, CONTEXT)


def test_counts_say_what_came():
    assert plain.counts([1, 2], "a shape") == (1, 2)
    with pytest.raises(RefusedPickle, match="a shape is a tuple of numbers from 0, got a dict"):
        plain.counts({}, "a shape")


@pytest.mark.parametrize(
    "make",
    [
        plain.ordered_dict,
        plain.default_dict,
        plain.path,
        plain.set_of(set),
        plain.namespace(Namespace),
    ],
)
def test_each_takes_of_the_budget(make):
    context = Context(Budget(0), Place(None))
    made = []

    def make_for_ever():
        while len(made) < 1 << 20:
            made.append(make((), context))

    with pytest.raises(taeda.serialization.FormatError, match="refused as a bomb"):
        make_for_ever()
    assert len(made) > 10_000
