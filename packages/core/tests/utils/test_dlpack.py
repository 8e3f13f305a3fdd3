"""Memory shared through DLPack, with numpy on the other side and with capsules that lie."""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref

import numpy as np
import pytest
from arrays import ARRAY_DTYPES, ARRAY_LAYOUTS

import taeda
from taeda._native import core
from taeda.utils.dlpack import DLDeviceType, from_dlpack, to_dlpack


@pytest.mark.parametrize("dtype", ARRAY_DTYPES)
@pytest.mark.parametrize("layout", ARRAY_LAYOUTS)
def test_there_and_back_is_the_same_memory(dtype, layout):
    array = ARRAY_LAYOUTS[layout]((np.arange(12).reshape(3, 4) % 2).astype(dtype))
    tensor = from_dlpack(array)
    assert tensor.tolist() == array.tolist() and tensor.shape == array.shape
    back = np.from_dlpack(tensor)
    assert back.dtype == array.dtype and (back == array).all()
    if array.size:
        assert back.ctypes.data == array.ctypes.data
        tensor.zero_()
        assert not array.any() and not back.any()


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (2, 0)])
def test_capsules_of_both_forms(version):
    x = taeda.arange(6.0).reshape(2, 3).t()
    capsule = x.__dlpack__(max_version=version)
    name = "dltensor_versioned" if version and version[0] >= 1 else "dltensor"
    assert f'"{name}"' in repr(capsule)
    y = from_dlpack(capsule)
    assert y.stride() == (1, 3) and y.data_ptr() == x.data_ptr()
    assert f'"used_{name}"' in repr(capsule)


@pytest.mark.parametrize("name", ["bfloat16", "complex32", "float8_e5m2", "float8_e4m3fn"])
def test_dtypes_that_numpy_has_not(name):
    x = taeda.tensor([1.0, 2.0]).to(getattr(taeda, name))
    assert from_dlpack(x).dtype is x.dtype
    assert from_dlpack(x).data_ptr() == x.data_ptr()


def allocated():
    gc.collect()
    return core.memory_stats()["allocated"]


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_nobody_takes_frees_its_tensor(version):
    before = allocated()
    for _ in range(10):
        taeda.ones(100_000).__dlpack__(max_version=version)
    assert allocated() - before < 100_000


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_taken_capsule_gives_back_once(version):
    before = allocated()
    for _ in range(10):
        capsule = taeda.ones(100_000).__dlpack__(max_version=version)
        y = from_dlpack(capsule)
        del capsule
        assert y.sum() == 100_000
        del y
    assert allocated() - before < 100_000


def test_each_keeps_the_others_memory():
    class Watched(np.ndarray):
        pass

    array = np.ones(1000).view(Watched)
    watch = weakref.ref(array)
    tensor = from_dlpack(array)
    del array
    gc.collect()
    assert watch() is not None and tensor.sum() == 1000
    view = tensor[3:]
    del tensor
    assert watch() is not None and view.sum() == 997
    del view
    gc.collect()
    assert watch() is None
    kept = np.from_dlpack(taeda.full((1000,), 7.0))
    taeda.zeros(1000)
    assert (kept == 7).all()


def test_the_last_owner_may_end_in_another_thread():
    held = [from_dlpack(np.ones(1000)), np.from_dlpack(taeda.ones(1000))]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert held == []


def test_a_tensor_that_was_given_away_cannot_be_resized():
    tensor = taeda.ones(3)
    capsule = tensor.__dlpack__()
    with pytest.raises(RuntimeError, match="resized"):
        tensor.resize_(100_000)
    assert from_dlpack(capsule).tolist() == [1, 1, 1]


def test_copies():
    x = taeda.zeros(3)
    from_dlpack(x, copy=True).fill_(1)
    np.from_dlpack(x, copy=True).fill(1)
    assert x.tolist() == [0, 0, 0]
    assert from_dlpack(x, copy=False).data_ptr() == x.data_ptr()


class Old:
    """A producer from before version 1: it knows no words but `stream`."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, stream=None):
        return self.tensor.__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)


def test_producers_that_know_fewer_words():
    x = taeda.zeros(3)
    assert from_dlpack(Old(x)).data_ptr() == x.data_ptr()
    assert from_dlpack(Old(x), device="cpu", copy=True).data_ptr() != x.data_ptr()


def test_a_producers_own_error_arrives():
    class Broken(Old):
        def __dlpack__(self, stream=None):
            raise TypeError("no memory today")

    with pytest.raises(TypeError, match="no memory today"):
        from_dlpack(Broken(None))


def test_memory_that_must_not_be_written_warns():
    array = np.ones(3)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable") as seen:
        from_dlpack(array)
    assert seen[0].filename == __file__
    with pytest.warns(UserWarning, match="not writable") as seen:
        from_dlpack(array.__dlpack__(max_version=(1, 0)))
    assert seen[0].filename == __file__
    assert from_dlpack(array, copy=True).tolist() == [1, 1, 1]


def test_devices():
    x = taeda.ones(2)
    assert x.__dlpack_device__() == (DLDeviceType.kDLCPU, 0)
    assert from_dlpack(x, device="cpu").data_ptr() == x.data_ptr()
    assert from_dlpack(x, device="meta").device.type == "meta"
    x.__dlpack__(stream=None, dl_device=(1, 0))
    with pytest.raises(ValueError, match="meta"):
        taeda.ones(2, device="meta").__dlpack_device__()
    with pytest.raises(ValueError, match="without copying"):
        from_dlpack(x, device="meta", copy=False)


def conjugated():
    return taeda.ones(2, dtype=taeda.complex64).conj()


EXPORTS = {
    "gradient": (lambda: taeda.ones(2, requires_grad=True), {}, BufferError, "detach"),
    "conj": (conjugated, {}, BufferError, "conjugate"),
    "neg": (lambda: conjugated().imag, {}, BufferError, "negative"),
    "meta": (lambda: taeda.ones(2, device="meta"), {}, BufferError, "meta"),
    "stream": (lambda: taeda.ones(2), {"stream": 1}, AssertionError, "stream should be None"),
    "kind of stream": (lambda: taeda.ones(2), {"stream": "0"}, TypeError, "int or None, got str"),
    "device": (lambda: taeda.ones(2), {"dl_device": (2, 0)}, BufferError, r"device \(2, 0\)"),
}


@pytest.mark.parametrize(("make", "words", "error", "fact"), EXPORTS.values(), ids=EXPORTS)
def test_what_is_not_exported(make, words, error, fact):
    with pytest.raises(error, match=fact):
        make().__dlpack__(**words)


def test_the_old_function_lets_a_gradient_pass():
    assert not from_dlpack(to_dlpack(taeda.ones(2, requires_grad=True))).requires_grad
    with pytest.raises(TypeError, match="wanted a Tensor"):
        to_dlpack(np.ones(2))


def test_a_capsule_is_taken_once():
    capsule = to_dlpack(taeda.ones(2))
    from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="only once"):
        from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="got 3"):
        from_dlpack(3)
    with pytest.raises(AssertionError, match="capsule"):
        from_dlpack(to_dlpack(taeda.ones(2)), copy=True)


def test_subclasses_are_asked():
    class Sees(taeda.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func, kwargs

    x = taeda.ones(1).as_subclass(Sees)
    assert x.__dlpack__(copy=True)[0] is taeda.Tensor.__dlpack__
    assert x.__dlpack__(copy=True)[1]["copy"] is True
    assert x.__dlpack_device__()[0] is taeda.Tensor.__dlpack_device__


# ---- capsules whose fields are false ----


class Managed(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]  # fmt: skip


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64), *Managed._fields_[:-2],
    ]  # fmt: skip


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
KEPT = []  # memory that capsules point to


def capsule_of(kind=Managed, shape=(2, 3), strides=None, **fields):
    memory = np.arange(64.0)
    numbers = [np.array(n, dtype=np.int64) if n is not None else None for n in (shape, strides)]
    fields.setdefault("data", memory.ctypes.data)
    made = kind(device_type=1, ndim=len(shape), code=2, bits=64, lanes=1)
    made.shape, made.strides = (None if n is None else n.ctypes.data for n in numbers)
    for name, value in fields.items():
        setattr(made, name, value)
    KEPT.append((memory, numbers, made))
    return new_capsule(
        ctypes.addressof(made), b"dltensor" if kind is Managed else b"dltensor_versioned", None
    )


def test_capsules_without_strides_or_deleter():
    assert from_dlpack(capsule_of()).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert from_dlpack(capsule_of(byte_offset=16)).tolist() == [[2, 3, 4], [5, 6, 7]]
    assert from_dlpack(capsule_of(Versioned, major=1, minor=9)).sum() == 15
    assert from_dlpack(capsule_of(shape=(1, 2), strides=(-5, 1))).tolist() == [[0, 1]]
    assert from_dlpack(capsule_of(shape=(0, 2), data=None)).shape == (0, 2)


LIES = {
    "version": ({"kind": Versioned, "major": 2}, BufferError, r"DLPack 2\.0"),
    "device": ({"device_type": 8}, BufferError, "DLPack device 8"),
    "type": ({"code": 3}, BufferError, "type code 3"),
    "bits": ({"bits": 4}, BufferError, "4 bits"),
    "lanes": ({"lanes": 4}, BufferError, "4 lanes"),
    "rank": ({"ndim": 65}, BufferError, "65 dimensions"),
    "negative rank": ({"ndim": -1}, BufferError, "-1 dimensions"),
    "negative size": ({"shape": (2, -3)}, RuntimeError, "negative dimension -3"),
    "too many elements": ({"shape": (2**40, 2**40)}, RuntimeError, "overflowed"),
    "too many bytes": ({"shape": (2**61,)}, BufferError, "beyond any memory"),
    "far strides": ({"strides": (2**62, 2**62), "shape": (3, 3)}, BufferError, "beyond any memory"),
    "backwards": ({"strides": (3, -1)}, ValueError, "negative strides"),
    "no memory": ({"data": None}, BufferError, "no memory"),
    "odd address": ({"byte_offset": 3}, BufferError, "odd address"),
}


@pytest.mark.parametrize(("fields", "error", "fact"), LIES.values(), ids=LIES)
def test_capsules_that_lie(fields, error, fact):
    capsule = capsule_of(**fields)
    with pytest.raises(error, match=fact):
        from_dlpack(capsule)
    assert "used" not in repr(capsule)  # nobody took it


def test_a_rank_without_a_shape():
    capsule = capsule_of()
    KEPT[-1][-1].shape = None
    with pytest.raises(BufferError, match="with a shape"):
        from_dlpack(capsule)


def test_the_deleter_runs_once_with_the_struct():
    seen = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def deleter(address):
        seen.append(address)

    capsule = capsule_of(deleter=ctypes.cast(deleter, ctypes.c_void_p).value)
    tensor = from_dlpack(capsule)
    del capsule
    assert seen == []
    del tensor
    assert seen == [ctypes.addressof(KEPT[-1][-1])]


def test_numpy_asks_for_a_copy_or_forbids_it():
    x = taeda.ones(2)
    assert np.asarray(x).ctypes.data == x.data_ptr()
    assert np.array(x, copy=True).ctypes.data != x.data_ptr()
    assert np.asarray(x, dtype="f8").dtype == "f8"
    with pytest.raises(ValueError, match="copy=False forbids"):
        x.__array__("f8", copy=False)
