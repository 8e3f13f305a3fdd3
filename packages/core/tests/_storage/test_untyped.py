"""Storages as bytes: buffers and files."""

from __future__ import annotations

import array
import copy
import sys
import weakref

import pytest

import taeda
from taeda import TypedStorage, UntypedStorage


@pytest.mark.parametrize("dtype", [taeda.int32, taeda.float64, taeda.complex64, taeda.bool])
def test_byteswap(dtype):
    s = UntypedStorage(list(range(16)))
    size = dtype.itemsize // (2 if dtype.is_complex else 1)
    s.byteswap(dtype)
    assert s.tolist() == [i - i % size + size - 1 - i % size for i in range(16)]
    with pytest.raises(RuntimeError, match="no whole elements"):
        UntypedStorage(3).byteswap(taeda.int16)


def test_from_buffer():
    native = array.array("i", [1, 2, 3])
    swapped = array.array("i", native)
    swapped.byteswap()
    other = "big" if sys.byteorder == "little" else "little"
    for buffer, order in ((native, "native"), (native, sys.byteorder), (swapped, other)):
        assert taeda.IntStorage.from_buffer(buffer, order).tolist() == [1, 2, 3]
    assert taeda.IntStorage.from_buffer(native, "native", 1, 4).tolist() == [2]
    assert UntypedStorage.from_buffer(b"ab", dtype=taeda.uint8).tolist() == [97, 98]
    assert taeda.FloatStorage.from_buffer(b"", "native").tolist() == []
    made = UntypedStorage.from_buffer(native, "native", dtype=taeda.int32)
    made[0] = 9
    assert native[0] == 1


@pytest.mark.parametrize(
    ("arguments", "dtype", "error", "message"),
    [
        (
            (b"abcde", "native"),
            taeda.int32,
            ValueError,
            r"size \(5\) must be a multiple of element size \(4\)",
        ),
        (
            (b"abcd", "native", 9),
            taeda.uint8,
            ValueError,
            "only 4 elements after offset 0, but specified a size of 9",
        ),
        ((b"abcd", "native", -1, 5), taeda.uint8, ValueError, "offset must lie within"),
        ((b"abcd", "native", 1 << 62), taeda.int32, ValueError, "only 1 elements"),
        ((b"abcd", "sideways"), taeda.int16, ValueError, "invalid byte_order 'sideways'"),
        ((b"abcd",), taeda.int16, ValueError, "invalid byte_order None"),
        ((b"abcd", "native"), None, RuntimeError, "'dtype' cannot be None"),
        (("text", "native"), taeda.uint8, TypeError, "bytes-like"),
    ],
)
def test_from_buffer_refuses(arguments, dtype, error, message):
    with pytest.raises(error, match=message):
        UntypedStorage.from_buffer(*arguments, dtype=dtype)


def test_from_file(tmp_path):
    path = tmp_path / "numbers"
    s = taeda.ShortStorage.from_file(path, True, 3)
    s.fill_(258)
    assert s.filename == str(path)
    assert path.read_bytes() == b"\2\1" * 3
    assert TypedStorage.from_file(path, False, 2, dtype=taeda.int16).tolist() == [258, 258]


def test_what_is_no_content():
    with pytest.raises(RuntimeError, match="one of the items is a float"):
        UntypedStorage([1.5])
    with pytest.raises(RuntimeError, match="got 2 arguments"):
        TypedStorage(1, 2)
    assert len(TypedStorage()) == 0
    assert TypedStorage(wrap_storage=UntypedStorage([1, 0]), dtype=taeda.int16).tolist() == [1]


def test_one_memory_has_one_object_as_long_as_somebody_holds_it():
    x = taeda.ones(3)
    held = x.untyped_storage()
    held.mark = 5
    assert x.view(-1).untyped_storage() is held and x.untyped_storage().mark == 5
    assert taeda.ones(3).untyped_storage() is not held
    gone = weakref.ref(held)
    del held
    assert gone() is None


def test_a_copy_has_memory_of_its_own():
    storage = taeda.ones(3).untyped_storage()
    made = copy.copy(storage)
    made[0] = 7
    assert storage[0] == 0 and made.nbytes() == 12


def test_numbers_by_which_libraries_compare_memory_and_tensors():
    x, y = taeda.ones(4), taeda.ones(4)
    assert x[1:].untyped_storage()._cdata == x.untyped_storage()._cdata
    assert x.untyped_storage()._cdata != y.untyped_storage()._cdata
    assert taeda.ones(0).untyped_storage()._cdata != 0
    assert x._cdata == x._cdata != x.view(-1)._cdata
    assert x._typed_storage().dtype == taeda.float32 and x._typed_storage()[0] == 1
