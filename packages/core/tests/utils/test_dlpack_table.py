"""DLPack's table of C functions, called as a consumer in C calls it."""

from __future__ import annotations

import ctypes
import gc

import numpy as np
import pytest

import taeda
from taeda import Tensor
from taeda._native import core


class Table(ctypes.Structure):
    """The table, field for field as DLPack 1.3 has it."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("from_object", ctypes.c_void_p),
        ("to_object", ctypes.c_void_p),
        ("describe", ctypes.c_void_p),
        ("current_stream", ctypes.c_void_p),
    ]


class Described(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("flags", ctypes.c_uint64),
        ("tensor", Described),
    ]


def _address() -> int:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api")


TABLE = Table.from_address(_address())
REPORT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
_object, _out = ctypes.py_object, ctypes.POINTER(ctypes.c_void_p)
from_object = ctypes.PYFUNCTYPE(ctypes.c_int, _object, _out)(TABLE.from_object)
to_object = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_object))(
    TABLE.to_object
)
describe = ctypes.PYFUNCTYPE(ctypes.c_int, _object, ctypes.POINTER(Described))(TABLE.describe)
current_stream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, _out)(
    TABLE.current_stream
)
allocate = ctypes.CFUNCTYPE(  # without the interpreter lock, as a library's own thread calls it
    ctypes.c_int, ctypes.POINTER(Described), _out, ctypes.c_void_p, REPORT
)(TABLE.allocate)


def exported(tensor):
    out = ctypes.c_void_p()
    assert from_object(tensor, ctypes.byref(out)) == 0
    return out.value


def described(tensor):
    out = Described()
    assert describe(tensor, ctypes.byref(out)) == 0
    return out


def allocated_like(*shape, code=2, bits=32, device=1, ndim=None):
    sizes = (ctypes.c_int64 * len(shape))(*shape)
    like = Described(ndim=len(shape) if ndim is None else ndim, code=code, bits=bits, lanes=1)
    like.device[0], like.shape = device, sizes
    told, out = [], ctypes.c_void_p()
    report = REPORT(lambda context, kind, text: told.append((kind.decode(), text.decode())))
    status = allocate(ctypes.byref(like), ctypes.byref(out), None, report)
    return status, out.value, told


def test_the_table_is_of_version_1_3_and_full():
    assert (TABLE.major, TABLE.minor, TABLE.previous) == (1, 3, None)
    names = [name for name, _ in Table._fields_[3:]]
    assert all(getattr(TABLE, name) for name in names)
    assert taeda.nn.Parameter.__dlpack_c_exchange_api__ is Tensor.__dlpack_c_exchange_api__


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "bfloat16", "complex64"])
def test_a_description_is_where_the_tensor_is(dtype):
    x = taeda.zeros(3, 4, dtype=getattr(taeda, dtype)).t()[1:]
    d = described(x)
    assert d.data == x.data_ptr() and d.byte_offset == 0 and list(d.device) == [1, 0]
    assert (d.shape[: d.ndim], d.strides[: d.ndim]) == (list(x.shape), list(x.stride()))
    assert d.bits == 8 * x.element_size() and d.lanes == 1


def test_there_and_back_is_the_same_memory_and_is_freed():
    gc.collect()
    before = core.memory_stats()["allocated"]
    for _ in range(20):
        x = taeda.arange(6.0).reshape(2, 3)
        given, back = exported(x), ctypes.py_object()
        assert to_object(given, ctypes.byref(back)) == 0
        y = back.value
        ctypes.pythonapi.Py_DecRef(back)  # the reference that the call gave us
        assert y.data_ptr() == x.data_ptr() and y.tolist() == x.tolist()
        assert Managed.from_address(exported(x)).flags == 0
        x = y = back = None
    for _ in range(20):
        made = Managed.from_address(exported(taeda.ones(100_000)))
        made.deleter(ctypes.addressof(made))
    gc.collect()
    assert core.memory_stats()["allocated"] - before < 100_000


def test_gradients_stay_behind():
    leaf = taeda.ones(2, requires_grad=True)
    back = ctypes.py_object()
    assert to_object(exported(leaf), ctypes.byref(back)) == 0
    assert not back.value.requires_grad and back.value.data_ptr() == leaf.data_ptr()


@pytest.mark.parametrize("call", [exported, described])
def test_refusals(call):
    with pytest.raises(TypeError, match="wanted a Tensor, got"):
        call(np.ones(2))
    with pytest.raises(BufferError, match="no memory that could be exported"):
        call(taeda.empty(2, device="meta"))
    with pytest.raises(BufferError, match="conjugate or negative"):
        call(taeda.ones(2, dtype=taeda.complex64).conj())


def test_a_refused_struct_stays_the_callers():
    given = exported(taeda.ones(2))
    Managed.from_address(given).tensor.device[0] = 8
    with pytest.raises(BufferError, match="only the cpu"):
        to_object(given, ctypes.byref(ctypes.py_object()))
    Managed.from_address(given).deleter(given)


def test_new_tensors_are_allocated_without_the_interpreter_lock():
    status, given, told = allocated_like(2, 3)
    back = ctypes.py_object()
    assert (status, told) == (0, []) and to_object(given, ctypes.byref(back)) == 0
    assert back.value.shape == (2, 3) and back.value.dtype is taeda.float32


@pytest.mark.parametrize(
    ("wanted", "kind", "text"),
    [
        ({"device": 8}, "BufferError", "only the cpu"),
        ({"code": 77}, "BufferError", "type code 77"),
        ({"ndim": 1000}, "BufferError", "1000 dimensions"),
        ({"ndim": -1}, "BufferError", "-1 dimensions"),
    ],
)
def test_what_cannot_be_allocated_is_told_in_the_callers_way(wanted, kind, text):
    status, given, told = allocated_like(2, **wanted)
    assert (status, given) == (-1, None) and told[0][0] == kind and text in told[0][1]


@pytest.mark.parametrize("size", [-1, 1 << 62])
def test_impossible_sizes_are_told(size):
    status, given, told = allocated_like(size, 4)
    assert (status, given) == (-1, None) and len(told) == 1


def test_the_cpu_has_no_stream_and_other_devices_are_not_here():
    out = ctypes.c_void_p(1)
    assert current_stream(1, 0, ctypes.byref(out)) == 0 and out.value is None
    with pytest.raises(BufferError, match="DLPack device 8"):
        current_stream(8, 0, ctypes.byref(out))
