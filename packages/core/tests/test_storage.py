"""Storages as objects: bytes, elements of a dtype, conversions, buffers, and the old names."""

from __future__ import annotations

import array
import copy
import pickle
import sys

import pytest

import taeda
from taeda import TypedStorage, UntypedStorage

OLD = {
    "FloatStorage": taeda.float32, "DoubleStorage": taeda.float64, "HalfStorage": taeda.float16, "BFloat16Storage": taeda.bfloat16,
    "LongStorage": taeda.int64, "IntStorage": taeda.int32, "ShortStorage": taeda.int16, "CharStorage": taeda.int8,
    "ByteStorage": taeda.uint8, "BoolStorage": taeda.bool, "ComplexFloatStorage": taeda.complex64,
    "ComplexDoubleStorage": taeda.complex128, "QInt8Storage": taeda.qint8, "QUInt8Storage": taeda.quint8,
    "QInt32Storage": taeda.qint32, "QUInt4x2Storage": taeda.quint4x2, "QUInt2x4Storage": taeda.quint2x4,
}  # fmt: skip
CASTS = {
    "double": taeda.float64, "half": taeda.float16, "bfloat16": taeda.bfloat16, "long": taeda.int64, "short": taeda.int16,
    "char": taeda.int8, "byte": taeda.uint8, "bool": taeda.bool, "complex_float": taeda.complex64, "int": taeda.int32,
    "complex_double": taeda.complex128, "float": taeda.float32, "float8_e5m2": taeda.float8_e5m2, "float8_e4m3fn": taeda.float8_e4m3fn,
}  # fmt: skip


@pytest.mark.parametrize("name", OLD)
def test_old_names(name):
    cls = getattr(taeda, name)
    made = cls([1, 0, 1])
    assert type(made) is TypedStorage
    assert made.dtype is cls.dtype is OLD[name]
    assert made.tolist() == [1, 0, 1]
    assert made.pickle_storage_type() == name
    assert made.type() == f"taeda.{name}"
    assert isinstance(made, cls)
    assert sum(isinstance(made, getattr(taeda, other)) for other in OLD) == 1
    assert len(cls(4)) == 4
    with pytest.raises(RuntimeError, match="takes no other"):
        cls(2, dtype=taeda.int8)


@pytest.mark.parametrize("method", CASTS)
def test_conversions(method):
    source = taeda.FloatStorage([0, 1, 2])
    made = getattr(source, method)()
    assert made.dtype is CASTS[method]
    assert made.tolist() == taeda.tensor([0, 1, 2]).to(CASTS[method]).tolist()
    assert made.data_ptr() != source.data_ptr()
    raw = getattr(UntypedStorage([0, 1, 2]), method)()
    assert raw.dtype is CASTS[method]
    assert raw.tolist() == made.tolist()


def test_a_storage_of_a_tensor_is_its_memory():
    x = taeda.zeros(3)
    x.storage()[1] = 5
    x.storage().untyped()[0:4] = 0
    assert x.tolist() == [0, 5, 0]
    assert taeda.is_storage(x.storage())
    assert taeda.is_storage(x.untyped_storage())


def test_elements():
    s = TypedStorage([1, 2, 3], dtype=taeda.int16)
    assert (len(s), s.size(), s.nbytes(), s.element_size()) == (3, 3, 6, 2)
    assert list(s) == [1, 2, 3]
    assert s[-1] == 3
    assert s.fill_(7) is s
    s[0:2] = 4
    assert s.tolist() == [4, 4, 7]
    assert s.copy_(taeda.FloatStorage([1.5, 2, 3])).tolist() == [1, 2, 3]
    assert (
        repr(s)
        == " 1\n 2\n 3\n[taeda.storage.TypedStorage(dtype=taeda.int16, device=cpu) of size 3]"
    )
    with pytest.raises(IndexError, match="index 3 out of range for storage of size 3"):
        s[3]
    with pytest.raises(RuntimeError, match="slices"):
        s[0:1]
    s.resize_(5)
    assert s.tolist()[:3] == [1, 2, 3]


def test_facts_and_places():
    for s in (taeda.FloatStorage(2), UntypedStorage(2)):
        assert s.to(device="cpu") is s is s.cpu()
        assert (s.is_cuda, s.is_hpu, s.is_sparse, s.is_pinned(), s.get_device()) == (
            False,
            False,
            False,
            False,
            None,
        )
        assert s.resizable()
        assert s.to(device="meta").device.type == "meta"
        assert "device=meta" in repr(s.to(device="meta"))
        for name in ("cuda", "hpu", "mps", "pin_memory"):
            with pytest.raises(RuntimeError):
                getattr(s, name)()
        assert not s.is_shared()
        assert s.share_memory_() is s
        assert s.is_shared()
        assert not s.resizable()
    assert UntypedStorage(3).new().nbytes() == 0


def test_type_by_name_and_dtype():
    s = taeda.FloatStorage([1, 2])
    assert s.type("taeda.IntStorage").dtype is taeda.int32
    assert s.type(taeda.float16).tolist() == [1, 2]
    assert s.type(taeda.float32) is s
    assert UntypedStorage(1).type() == "taeda.storage.UntypedStorage"
    with pytest.raises(ValueError, match="invalid storage type 'pigeon'"):
        s.type("pigeon")


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s)), lambda s: s.clone()]
)
def test_copies(copied):
    s = taeda.IntStorage([1, 2])
    other = copied(s)
    other[0] = 9
    assert s.tolist() == [1, 2]
    assert other.tolist() == [9, 2]
    assert other.dtype is taeda.int32


# ---- buffers and files ----


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
