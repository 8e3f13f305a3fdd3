"""Pickles are read as data: what data needs is read in every protocol, and nothing else is."""

from __future__ import annotations

import argparse
import collections
import dataclasses
import enum
import io
import os
import pathlib
import pickle
import struct
import subprocess
import types
import zipfile

import numpy as np
import pytest

import taeda
from taeda._io.budget import Budget
from taeda._io.place import Place
from taeda._io.pt.context import Context
from taeda._io.pt.errors import RefusedPickle
from taeda._io.pt.machine import load


def read(data):
    return load(data, Context(Budget(len(data), len(data)), Place(None)))


def pickled(value, protocol):
    """As torch has Python do it: without classes of containers that it does not know."""
    return pickle.dumps(value, protocol)


PLAIN = [
    None,
    True,
    [0, 1, -1, 255, 256, 65535, 65536, 2**31 - 1, -(2**31), 2**31, 2**63, -(2**1000)],
    [0.0, -0.0, 1.5, float("inf"), 5e-324],
    1 - 2j,
    ["", "é", "😀", "\ud800", "a" * 70_000],
    [b"", b"\xff" * 300, bytearray(b"abc"), bytearray()],
    [(), (1,), (1, 2), (1, 2, 3), tuple(range(5000))],
    [[], list(range(5000)), [[[]]]],
    {"a": {1: {2.5: {None: {(1, (2, b"x")): "deep"}}}}},
    [set(), {1}, {"a"}, {(1, 2)}, frozenset(), frozenset({1})],
    collections.OrderedDict(b=1, a=2),
    collections.Counter("abca"),
    collections.defaultdict(int, a=1),
    {str(i): i for i in range(5000)},
    [collections.deque([1, [2]], 5), collections.deque(), range(2, 9, 3)],
    [argparse.Namespace(lr=0.1, sizes=[1, 2]), types.SimpleNamespace(a=argparse.Namespace())],
    [pathlib.Path("/a/b.txt"), pathlib.Path("c")],
    [np.float64(2.5), np.int8(-3), np.bool_(True), np.complex64(1j)],
]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("value", PLAIN, ids=lambda v: repr(v)[:30])
def test_plain_data(value, protocol):
    made = read(pickled(value, protocol))
    assert type(made) is type(value)
    assert repr(made) == repr(value)
    assert made == value


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize(
    "array",
    [np.arange(6).reshape(2, 3), np.ones((2, 3)).T, np.empty((0, 2)), np.arange(3, dtype=">i2")],
)
def test_arrays(array, protocol):
    made = read(pickled(array, protocol))
    assert np.array_equal(made, array)
    assert made.dtype.newbyteorder("=") == array.dtype.newbyteorder("=")
    assert made.flags.writeable


def test_one_object_stays_one():
    inner = [1]
    made = read(pickled([inner, inner, (inner,)], 4))
    assert made[0] is made[1] is made[2][0]


def test_python_2_wrote_bytes_as_text_and_dicts_as_pairs():
    assert read(b"\x80\x02(U\x03abcU\x02\xe9!e.".replace(b"(", b"](")) == ["abc", "é!"]
    pairs = b"\x80\x02ccollections\nOrderedDict\n(](](U\x01aK\x01e](U\x01bK\x02eetR."
    assert read(pairs) == collections.OrderedDict(a=1, b=2)


def test_a_factory_is_a_builtin():
    made = read(pickled(collections.defaultdict(dict), 2))
    assert made["x"] == {}
    with pytest.raises(RefusedPickle, match=r"builtins\.eval"):
        read(pickled(collections.defaultdict(eval), 2))


class Gadget:
    def __init__(self, *made):
        self.made = made

    def __reduce__(self):
        return self.made


GADGETS = {
    "os.system": Gadget(os.system, ("false",)),
    "subprocess.Popen": Gadget(subprocess.Popen, (["false"],)),
    "eval": Gadget(eval, ("1/0",)),
    "getattr": Gadget(getattr, ("", "join")),
    "partial": Gadget(__import__("functools").partial, (print, 1)),
    "a state": Gadget(collections.OrderedDict, (), {"__class__": dict}),
}


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("gadget", GADGETS.values(), ids=GADGETS)
def test_code_is_refused(gadget, protocol):
    with pytest.raises(pickle.UnpicklingError, match=r"asks for|attributes other than"):
        read(pickled([1, gadget], protocol))


def test_a_refusal_names_what_was_wanted_and_what_to_do():
    with pytest.raises(
        RuntimeError, match=r"'posix\.system'.*nothing is imported or called.*state_dict"
    ):
        read(pickled(GADGETS["os.system"], 2))


def test_names_that_are_refused_are_listed():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        value = [collections.OrderedDict(), GADGETS["os.system"], GADGETS["eval"], GADGETS["eval"]]
        archive.writestr("archive/data.pkl", pickled(value, 4))
    file.seek(0)
    names = taeda.serialization.get_unsafe_globals_in_checkpoint(file)
    assert names == ["posix.system", "builtins.eval"]


# ---- classes that the user allowed ----


class Colour(enum.Enum):
    RED = 1
    BLUE = "b"


class Point(collections.namedtuple("Point", "x y")):
    pass


@dataclasses.dataclass
class Config:
    size: int
    inner: object = None

    def __post_init__(self):
        raise AssertionError("code of the class runs")

    def __setstate__(self, state):
        raise AssertionError("code of the class runs")


class Slotted:
    __slots__ = ("a",)


class Called:
    def __reduce__(self):
        return Called, (1,)


class Subclass(taeda.Tensor):
    pass


def config(**fields):
    made = object.__new__(Config)
    made.__dict__.update(fields)
    return made


def slotted(a):
    made = Slotted()
    made.a = a
    return made


# Python names the module of a test as it likes; a file names these "classes"
@pytest.fixture
def allowed(monkeypatch):
    kinds = [Colour, Point, Config, Slotted, Called]
    for kind in kinds:
        monkeypatch.setattr(kind, "__module__", "classes")
    module = types.ModuleType("classes")
    module.__dict__.update({kind.__name__: kind for kind in kinds})
    monkeypatch.setitem(__import__("sys").modules, "classes", module)
    with taeda.serialization.safe_globals(kinds):
        yield


@pytest.mark.parametrize("protocol", [2, 4])
def test_allowed_classes(protocol, allowed):
    value = [
        Colour.RED,
        Colour.BLUE,
        Point(1, [2]),
        config(size=3, inner=Colour.RED),
        slotted((1,)),
    ]
    data = pickled(value, protocol)
    made = read(data)
    assert made[:2] == [Colour.RED, Colour.BLUE]
    assert (type(made[2]), made[2]) == (Point, (1, [2]))
    assert (type(made[3]), vars(made[3])) == (Config, {"size": 3, "inner": Colour.RED})
    assert (type(made[4]), made[4].a) == (Slotted, (1,))


def test_members_by_name_as_python_3_11_wrote_them(allowed):
    assert read(pickled(Gadget(getattr, (Colour, "RED")), 2)) is Colour.RED
    for of, name, words in (
        (Colour, "__class__", "no such member"),
        (Point, "count", "no allowed enum"),
        ("", "join", "no allowed enum"),
    ):
        with pytest.raises(RefusedPickle, match=words):
            read(pickled(Gadget(getattr, (of, name)), 2))


def test_a_field_that_has_no_place(allowed):
    data = pickled(slotted(1), 2).replace(b"X\x01\x00\x00\x00a", b"X\x01\x00\x00\x00z")
    with pytest.raises(RefusedPickle, match="no place for a field"):
        read(data)


def test_an_allowed_class_is_never_called(allowed):
    with pytest.raises(RefusedPickle, match="made by calling the class"):
        read(pickled(Called(), 2))


def test_classes_that_are_not_allowed_any_more(allowed):
    data = pickled(Colour.RED, 2)
    taeda.serialization.clear_safe_globals()
    with pytest.raises(RefusedPickle, match=r"'classes\.Colour'.*add_safe_globals"):
        read(data)


def test_names_do_not_hide_in_fields():
    for body in (b"cargparse\nNamespace\n)\x81}X\x01\x00\x00\x00actorch\nSize\nsb",):
        with pytest.raises(RefusedPickle, match="a name and no data"):
            read(b"\x80\x02" + body + b".")


def nested(depth, wrap):
    value = wrap(())
    for _ in range(depth):
        value = wrap((value,))
    return value


@pytest.mark.parametrize("wrap", [list, tuple], ids=["lists", "tuples"])
def test_depth(wrap):
    empty = b"]" if wrap is list else b")"
    close = b"\x85" if wrap is tuple else None

    def deep(levels):
        body = empty * (levels + 1) + b"a" * levels if close is None else empty + close * levels
        return b"\x80\x02" + body + b"."

    assert read(deep(100)) == nested(100, wrap)
    with pytest.raises(RefusedPickle, match="nested deeper than 1000"):
        read(deep(100_000))


def test_what_doubles_at_each_level_costs_nothing():
    made = read(b"\x80\x02K\x01\x85" + b"q\x00h\x00\x86" * 500 + b".")
    assert made[0] is made[1]


WORDS = {
    "itself": (b"]q\x00h\x00a", "contains itself"),
    "a key that doubles": (b"}K\x01\x85" + b"q\x00h\x00\x86" * 60 + b"Ns", "tuples of up to 64"),
    "a list as key": (b"}]Ns", "a list is used as a key"),
    "one hash": (
        b"}("
        + b"".join(
            b"\x8a\x0b" + ((2**61 - 1) * i).to_bytes(11, "little") + b"N" for i in range(1, 40)
        )
        + b"u",
        "same hash",
    ),
    "entries into a list": (b"]K\x01K\x02s", "into a list, not into a dict"),
    "items into a dict": (b"}K\x01a", "to a dict, not to a list"),
    "items into nothing": (b"a", "nothing on the stack"),
    "no mark": (b"t", "no mark"),
    "a key without a value": (b"}(K\x01u", "last key has no value"),
    "a memo entry": (b"h\x00", "memo entry 0 was never set"),
    "a far memo entry": (b"Nr\xff\xff\xff\xff", "follows entry -1"),
    "twice in the memo": (b"N\x94\x94", "into the memo twice"),
    "two objects": (b"NN", "more than one object"),
    "an open mark": (b"(N", "more than one object"),
    "a call of data": (b"K\x01)R", "a int is called, which is data"),
    "a name alone": (b"ctorch\nSize\n", "a name and no data"),
    "a name in a list": (b"]ctorch\nFloatStorage\na", "a name and no data"),
    "an old protocol": (b"\x80\x00N", "protocol 0 is not read"),
    "an unknown instruction": (b"\xfe", "is none that data needs"),
    "a text that ends early": (b"X\xff\x00\x00\x00abc", "truncated"),
    "an integer of a megabyte": (
        b"\x8b" + struct.pack("<I", 1 << 20) + bytes(1 << 20),
        "an integer of",
    ),
    "a frame": (b"\x95" + struct.pack("<Q", 1 << 40), "truncated"),
    "a storage": (b"NQ", "where none can be"),
    "not UTF-8": (b"X\x01\x00\x00\x00\xff", "not UTF-8"),
}


@pytest.mark.parametrize(("words", "message"), WORDS.values(), ids=WORDS)
def test_refused(words, message):
    with pytest.raises(RefusedPickle, match=message):
        read(b"\x80\x02" + words + b".")


def test_memory_is_in_proportion_to_the_pickle():
    with pytest.raises(RuntimeError, match="refused as a bomb"):
        read(b"\x80\x04(" + b"\x8f" * 1_000_000 + b"l.")
    assert len(read(b"\x80\x02(" + b"]" * 100_000 + b"l.")) == 100_000


def test_what_programs_save_is_no_bomb():
    file = io.BytesIO()
    taeda.save({f"layer.{i}.weight": taeda.zeros(2) for i in range(10_000)}, file, format="pt")
    file.seek(0)
    assert len(taeda.load(file)) == 10_000
    words = [{"id": i, "text": f"a{i}"} for i in range(60_000)]
    assert read(pickled(words, 2)) == words
    vocabulary = {f"word{i}": i for i in range(200_000)}
    assert read(pickled(vocabulary, 4)) == vocabulary


def test_bytes_behind():
    with pytest.raises(RefusedPickle, match="2 bytes follow"):
        read(b"\x80\x02N.N.")


# ---- pickles that no writer makes ----

MALFORMED = {
    "a long name": (b"\x80\x02c" + b"a" * 3000, "a name is longer than"),
    "a name that is no text": (b"\x80\x02c\xff\n", "a text is not UTF-8"),
    "a text that is none": (b"\x80\x02X\x01\0\0\0\xff.", "a text is not UTF-8"),
    "nothing to drop": (b"\x80\x020.", "finds no mark"),
    "nothing at the top": (b"\x80\x02q\0.", "finds nothing on the stack"),
    "nothing to pop": (b"\x80\x02R.", "finds nothing on the stack"),
    "no mark": (b"\x80\x02t.", "finds no mark"),
    "a tuple of too few": (b"\x80\x02N\x86.", "finds nothing on the stack"),
    "marks without end": (b"\x80\x02" + b"(" * 200_000, "nested too deeply"),
    "items into a list": (b"\x80\x04](K\x01\x90.", "items are added to a list, not to a set"),
    "items into a dict": (b"\x80\x02}(K\x01e.", "items are appended to a dict, not to a list"),
    "entries into a list": (b"\x80\x02](K\x01K\x02u.", "entries are put into a list, not into a dict"),
    "a key without value": (b"\x80\x02}(K\x01u.", "last key has no value"),
    "names that are numbers": (b"\x80\x04K\x01K\x02\x93.", "a name is no text"),
    "data that are called": (b"\x80\x02N)R.", "a NoneType is called, which is data"),
    "a name that is called with a "
    "list": (b"\x80\x02ccollections\nOrderedDict\n]R.", "is called, which is data"),
    "twice into the memo": (b"\x80\x02]q\0q\1.", "put into the memo twice"),
    "a memo far away": (b"\x80\x02]r\xff\xff\xff\x7f.", "follows entry -1"),
    "a memo never set": (b"\x80\x02h\5.", "memo entry 5 was never set"),
    "a storage": (b"\x80\x02NQ.", "a storage is named where none can be"),
    "protocol 0": (b"\x80\0N.", "protocol 0 is not read"),
    "protocol 9": (b"\x80\x09N.", "protocol 9 is not read"),
    "an integer of many bytes": (b"\x80\x02\x8b\0\0\1\0.", "an integer of 65536 bytes"),
    "a frame beyond": (b"\x80\x04\x95" + b"\xff" * 8, "its frame goes on"),
    "no end": (b"\x80\x02N", "truncated"),
    "more behind": (b"\x80\x02N.N", "1 bytes follow the pickle"),
    "an unknown instruction": (b"\x80\x02\xee.", "at byte 3"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "message"), MALFORMED.values(), ids=MALFORMED)
def test_malformed(data, message):
    with pytest.raises(RefusedPickle, match=message):
        read(data)


def test_what_is_dropped_is_gone():
    assert read(b"\x80\x02K\x01K\x020.") == 1
    assert read(b"\x80\x02K\x01(K\x021.") == 1
    assert read(b"\x80\x02K\x01(0.") == 1
