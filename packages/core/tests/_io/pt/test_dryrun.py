"""The first run of a long pickle refuses what the machine refuses, lets through what it reads, and
makes nothing.
"""

from __future__ import annotations

import io
import pickle
import struct
import tracemalloc
from collections import Counter, OrderedDict, defaultdict, deque

import pytest

import taeda
from taeda._io.pt import dryrun
from taeda._io.pt.dryrun import check_long_pickle, check_long_pickles
from taeda._io.pt.errors import RefusedPickle
from taeda._io.safetensors import FormatError


@pytest.fixture(autouse=True)
def every_pickle_is_long(monkeypatch):
    monkeypatch.setattr(dryrun, "is_long", lambda length, file_bytes: True)


def check(data):
    check_long_pickle(data, len(data))


DATA = [
    None,
    5,
    -(2**200),
    1.5,
    "text",
    b"bytes",
    bytearray(b"more"),
    [1, [2, [3]]],
    (1, 2, 3, 4),
    {"a": [(), {}], 1: {2: 3}},
    {1, 2},
    frozenset({1}),
    OrderedDict(a=[1]),
    Counter("aab"),
    defaultdict(list, a=[1]),
    deque([1, 2], 3),
    [["x" * 2000] * 3] * 3,
]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("value", DATA, ids=[type(value).__name__ for value in DATA])
def test_data_goes_through(value, protocol):
    check(pickle.dumps([value, value], protocol))


def test_what_save_writes_goes_through():
    file = io.BytesIO()
    value = {"w": taeda.ones(2, 3), "p": taeda.nn.Parameter(taeda.ones(2)), "l": [1, "a"]}
    taeda.save(value, file, format="pt")
    file.seek(0)
    assert taeda.load(file)["l"] == [1, "a"]


BAD = {
    "a call of a number": b"K\x05)R",
    "a call with a list": b"ccollections\nOrderedDict\n]R",
    "an unknown name": b"cos\nsystem\n",
    "an unknown name by texts": b"\x8c\x02os\x8c\x06system\x93",
    "append to a dict": b"}K\x01a",
    "entries in a list": b"](K\x01K\x02u",
    "half an entry": b"}(K\x01u",
    "items in a list": b"](K\x01\x90",
    "a list as a key": b"}]K\x01s",
    "a set in a frozenset": b"(\x8f\x91",
    "a memo entry that is not there": b"h\x05",
    "nothing on the stack": b"a",
    "no mark": b"t",
    "an instruction for code": b"i",
    "an integer of 8 MB": b"\x8b" + struct.pack("<I", 8 << 20) + bytes(100),
    "bytes beyond the end": b"B" + struct.pack("<I", 8 << 20),
    "text beyond the end": b"X" + struct.pack("<I", 8 << 20),
    "a frame that lies": b"\x95" + struct.pack("<Q", 1 << 40),
    "two objects": b"NN",
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused(body):
    with pytest.raises(RefusedPickle, match=r"."):
        check(b"\x80\x04" + body + b".")


def test_something_behind_the_pickle():
    data = pickle.dumps(1, 2)
    with pytest.raises(RefusedPickle, match="1 bytes follow"):
        check(data + b"x")
    check_long_pickles(b"??" + data + data + b"anything", 2, 2, 100)


def test_a_bomb_is_refused_before_it_is_made():
    data = b"\x80\x02(" + b"\x8f" * 3_000_000 + b"l."
    tracemalloc.start()
    with pytest.raises(FormatError, match="refused as a bomb"):
        check(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20  # the sets would take 700 MB


def test_long_texts_and_bytes_are_passed_over():
    data = pickle.dumps(["€" * 2_000_000, bytes(5_000_000)], 4)[:-1] + b"K\x05)R."
    tracemalloc.start()
    with pytest.raises(RefusedPickle, match="a number is called"):
        check(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_more_names_than_kinds(monkeypatch):
    monkeypatch.setattr(dryrun.names, "find", lambda module, name: dryrun.Known(name, lambda *_: 0))
    check(b"\x80\x02(" + b"".join(b"cm\n%d\n)R" % i for i in range(400)) + b"l.")


def test_a_name_that_comes_again():
    name = b"ccollections\nOrderedDict\n"
    check(b"\x80\x02(" + name + name + b"l.")
    words = b"\x8c\x0bcollections\x94\x8c\x0bOrderedDict\x94\x93"
    check(b"\x80\x04" + words + b"h\x00h\x01\x93\x86.")  # its texts come from the memo
