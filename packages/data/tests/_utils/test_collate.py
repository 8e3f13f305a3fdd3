"""From samples to batches."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import taeda
from taeda.utils.data import default_collate, default_convert
from taeda.utils.data._utils.collate import collate, default_collate_fn_map

Pair = collections.namedtuple("Pair", "x y")
t = taeda.tensor

BATCHES = [
    ([1, 2], t([1, 2])),
    ([1.0, 2.0], t([1.0, 2.0], dtype=taeda.float64)),
    ([True, False], t([True, False])),
    (["a", "b"], ["a", "b"]),
    ([b"a"], [b"a"]),
    ([{"a": 1}, {"a": 2}], {"a": t([1, 2])}),
    ([(1, "a"), (3, "b")], [t([1, 3]), ("a", "b")]),
    ([[1, 2], [3, 4]], [t([1, 3]), t([2, 4])]),
    ([Pair(1, 2), Pair(3, 4)], Pair(t([1, 3]), t([2, 4]))),
    ([np.float32(1), np.float32(2)], t([1.0, 2.0])),
    ([np.array([1, 2]), np.array([3, 4])], t([[1, 2], [3, 4]])),
    ([np.array(1), np.array(2)], t([1, 2])),
    ([np.bool_(True)], t([True])),
    ([np.str_("a")], [np.str_("a")]),
    ([t([1.0]), t([2.0])], t([[1.0], [2.0]])),
    ([range(2), range(2)], [t([0, 0]), t([1, 1])]),
    ([collections.OrderedDict(a=1)], collections.OrderedDict(a=t([1]))),
    ([collections.defaultdict(int, a=1)], collections.defaultdict(int, a=t([1]))),
    ([collections.UserDict(a=1)], collections.UserDict(a=t([1]))),
    ([(1, {"a": [2.0]})], [t([1]), {"a": [t([2.0], dtype=taeda.float64)]}]),
]


@pytest.mark.parametrize(("batch", "wanted"), BATCHES, ids=range(len(BATCHES)))
def test_default_collate(batch, wanted):
    found = default_collate(batch)
    assert type(found) is type(wanted)
    assert repr(found) == repr(wanted)


REFUSED = [
    ([None], TypeError, "NoneType"),
    ([1j], TypeError, "complex"),
    ([{1}], TypeError, "set"),
    ([object()], TypeError, "object"),
    ([np.array(["a"])], TypeError, "<U1"),
    ([np.array([None])], TypeError, "object"),
    ([np.datetime64("2020")], TypeError, "datetime64"),
    ([[1], [1, 2]], RuntimeError, r"\[1, 2\]"),
    ([t([1]), t([1, 2])], RuntimeError, "2"),
    ([{"a": 1}, {"b": 1}], KeyError, "a"),
    ([], IndexError, "range"),
]


@pytest.mark.parametrize(("batch", "error", "fact"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_joined(batch, error, fact):
    with pytest.raises(error, match=fact):
        default_collate(batch)


def test_a_function_for_an_own_type():
    class Word(str):
        __slots__ = ()

    def join(batch, *, collate_fn_map):
        return " ".join(batch)

    own = {Word: join, **default_collate_fn_map}
    assert collate([(Word("a"), 1), (Word("b"), 2)], collate_fn_map=own)[0] == "a b"
    assert collate(["a", "b"], collate_fn_map={(str, bytes): join}) == "a b"
    with pytest.raises(TypeError, match="int"):
        collate([1], collate_fn_map={str: join})


CONVERTED = [
    (1, 1),
    ("a", "a"),
    (None, None),
    (np.array([1.0]), t([1.0], dtype=taeda.float64)),
    (np.float32(1), t(1.0)),
    (np.array(["a"]), np.array(["a"])),
    ((1, np.array([1])), [1, t([1])]),
    ([np.array([1])], [t([1])]),
    ({"a": np.array([1])}, {"a": t([1])}),
    (Pair(1, np.array([1])), Pair(1, t([1]))),
    (collections.OrderedDict(a=np.array([1])), collections.OrderedDict(a=t([1]))),
    ({1}, {1}),
]


@pytest.mark.parametrize(("value", "wanted"), CONVERTED, ids=range(len(CONVERTED)))
def test_default_convert(value, wanted):
    found = default_convert(value)
    assert type(found) is type(wanted)
    assert repr(found) == repr(wanted)


def test_every_sample_counts_for_the_dtype():
    mixed = default_collate([np.int64(1), 2.5])
    assert mixed.tolist() == [1.0, 2.5] and mixed.dtype is taeda.float32
    assert default_collate([np.float64(0.1)] * 2).dtype is taeda.float64
    assert default_collate([np.float64(0.1)] * 2).tolist() == [0.1, 0.1]


def test_what_libraries_ask_of_it():
    from taeda.utils.data._utils import collate

    kinds = {
        k: collate.np_str_obj_array_pattern.search(np.dtype(k).str) is not None for k in "fiSUO"
    }
    assert kinds == {"f": False, "i": False, "S": True, "U": True, "O": True}
    with pytest.raises(TypeError) as refused:
        default_collate([object])
    assert str(refused.value) == collate.default_collate_err_msg_format.format(type(object))
