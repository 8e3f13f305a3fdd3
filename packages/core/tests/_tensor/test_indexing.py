"""What a list means as a key: one index, or one for each dimension."""

from __future__ import annotations

import numpy as np
import pytest

import taeda

TUPLES = {
    "two lists": [[0, 1], [1, 2]],
    "tuples": [(0, 1), (1, 2)],
    "one list": [[0, 1]],
    "a number and a list": [0, [1, 2]],
    "a list and a number": [[0, 2], 1],
    "arrays": [np.array([0, 1]), np.array([1, 2])],
    "ranges": [range(2), range(1, 3)],
    "masks": [[True, False, True], [True, True, False]],
    "a deeper list": [[[0, 1], [1, 2]]],
    "a slice": [slice(0, 2), 1],
    "Ellipsis": [..., 0],
}


@pytest.mark.parametrize("key", TUPLES.values(), ids=TUPLES)
def test_a_list_with_a_sequence_in_it_is_a_tuple(key):
    x, array = taeda.arange(9).reshape(3, 3), np.arange(9).reshape(3, 3)
    assert x[key].tolist() == x[tuple(key)].tolist() == array[tuple(key)].tolist()
    x[key] = -1
    array[tuple(key)] = -1
    assert x.tolist() == array.tolist()


def test_a_list_of_numbers_is_one_index():
    x = taeda.arange(9).reshape(3, 3)
    assert x[[2, 0]].tolist() == [[6, 7, 8], [0, 1, 2]]
    assert x[[True, False, True]].shape == (2, 3)
    assert x[[np.int64(0), np.int64(1)]].shape == (2, 3)
    assert x[([0, 1], [1, 2])].tolist() == [1, 5]


def test_long_lists_of_lists_are_one_index():
    assert taeda.arange(3)[[[0, 1]] * 32].shape == (32, 2)


def test_as_many_lists_as_dimensions():
    with pytest.raises(IndexError, match="too many indices"):
        taeda.zeros(3, 3)[[[0], [1], [2]]]


@pytest.mark.parametrize(
    ("index", "error"),
    [("a", TypeError), (b"a", TypeError), ((0, "a"), TypeError), ({}, IndexError)],
)
def test_what_is_no_index_is_named(index, error):
    x = taeda.zeros(2, 3)
    for use in (lambda: x[index], lambda: x.__setitem__(index, 1)):
        with pytest.raises(error, match=r"are indices \(got (str|bytes|dict)\)"):
            use()


@pytest.mark.parametrize("key", [0, (slice(None), [0, 1])], ids=["basic", "advanced"])
def test_none_is_no_value(key):
    with pytest.raises(TypeError, match="can't assign a NoneType"):
        taeda.zeros(2, 3)[key] = None


def _bytes_of(kind):
    return {"tensor": taeda.tensor([1, 0, 1]).byte(), "array": np.array([1, 0, 1], "u1")}[kind]


@pytest.mark.parametrize("kind", ["tensor", "array"])
@pytest.mark.parametrize("use", ["__getitem__", "__setitem__"])
def test_bytes_as_an_index_warn(kind, use):
    x = taeda.arange(3)
    value = (7,) if use == "__setitem__" else ()
    with pytest.warns(UserWarning, match=r"uint8 is deprecated.*mask\.bool\(\)"):
        getattr(x, use)(_bytes_of(kind), *value)
    assert x.tolist() == ([7, 1, 7] if value else [0, 1, 2])
