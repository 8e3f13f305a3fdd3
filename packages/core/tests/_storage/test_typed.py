"""Storages as elements of a dtype, and the old names."""

from __future__ import annotations

import copy
import pickle
import sys

import pytest

import taeda
from taeda import TypedStorage, UntypedStorage

OLD = {
    "FloatStorage": taeda.float32, "DoubleStorage": taeda.float64, "HalfStorage": taeda.float16,
    "BFloat16Storage": taeda.bfloat16,
    "LongStorage": taeda.int64, "IntStorage": taeda.int32, "ShortStorage": taeda.int16,
    "CharStorage": taeda.int8,
    "ByteStorage": taeda.uint8, "BoolStorage": taeda.bool, "ComplexFloatStorage": taeda.complex64,
    "ComplexDoubleStorage": taeda.complex128, "QInt8Storage": taeda.qint8, "QUInt8Storage": taeda.quint8,
    "QInt32Storage": taeda.qint32, "QUInt4x2Storage": taeda.quint4x2, "QUInt2x4Storage": taeda.quint2x4,
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


def test_copies_of_tensors_and_storages_stay_together():
    x = taeda.zeros(3)
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        given = [[x, x.storage(), x.untyped_storage()][i] for i in order]
        made = dict(zip(order, copy.deepcopy(given), strict=True))
        made[0].add_(1)
        assert made[1].tolist() == [1.0] * 3
        assert made[2].data_ptr() == made[0].data_ptr() != x.data_ptr()


def test_the_size_of_a_storage_counts_its_bytes():
    for count in (0, 100):
        x = taeda.zeros(count)
        small = [
            sys.getsizeof(x[:0].clone().untyped_storage()),
            sys.getsizeof(x[:0].clone().storage()),
        ]
        large = [sys.getsizeof(x.untyped_storage()), sys.getsizeof(x.storage())]
        assert [b - a for a, b in zip(small, large, strict=True)] == [4 * count] * 2
