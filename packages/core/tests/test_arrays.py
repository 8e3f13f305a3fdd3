"""Memory shared with numpy, both ways."""

from __future__ import annotations

import array
import ctypes
import gc
import hashlib
import math
import sys

import numpy as np
import pytest
from arrays import ARRAY_DTYPES, ARRAY_LAYOUTS

import taeda


@pytest.mark.parametrize("dtype", ARRAY_DTYPES)
@pytest.mark.parametrize("layout", ARRAY_LAYOUTS)
def test_there_and_back_is_the_same_memory(dtype, layout):
    array = ARRAY_LAYOUTS[layout]((np.arange(12).reshape(3, 4) % 2).astype(dtype))
    tensor = taeda.from_numpy(array)
    assert tensor.shape == array.shape and tensor.tolist() == array.tolist()
    back = tensor.numpy()
    assert back.dtype == array.dtype and back.flags.writeable == (layout != "spread")
    assert (back == array).all() and back.shape == array.shape
    if array.size:
        assert back.strides == array.strides or array.ndim == 0 or layout == "spread"
        assert back.ctypes.data == array.ctypes.data
        tensor.zero_()
        assert not array.any() and not back.any()


def test_each_keeps_the_others_memory():
    array = np.ones(1000)
    count = sys.getrefcount(array)
    tensor = taeda.from_numpy(array)
    assert sys.getrefcount(array) == count + 1
    del tensor
    assert sys.getrefcount(array) == count
    kept = taeda.full((1000,), 7.0).numpy()
    taeda.zeros(1000)
    assert (kept == 7).all()


def test_a_tensor_whose_array_lives_cannot_be_resized():
    tensor = taeda.ones(3)
    array = tensor.numpy()
    with pytest.raises(RuntimeError, match="resized"):
        tensor.resize_(100_000)
    assert (array == 1).all()


def test_subclasses_and_long_names_of_dtypes():
    class Own(np.ndarray):
        pass

    assert taeda.from_numpy(np.arange(3).view(Own)).tolist() == [0, 1, 2]
    for name in ("intc", "longlong", "ulonglong", "long"):
        array = np.array([1, 2], dtype=name)
        tensor = taeda.from_numpy(array)
        assert tensor.element_size() == array.itemsize and tensor.tolist() == [1, 2]


def read_only():
    array = np.ones(3)
    array.flags.writeable = False
    return array


def test_arrays_that_cannot_be_written_warn():
    with pytest.warns(UserWarning, match="not writable") as seen:
        taeda.from_numpy(read_only())
    assert seen[0].filename == __file__


REFUSED = {
    "a list": ([1], TypeError, "expected np.ndarray .got list"),
    "texts": (np.array(["a"]), TypeError, "<U1"),
    "objects": (np.array([None]), TypeError, "object"),
    "records": (np.zeros(2, "i4,f4"), TypeError, "can't convert"),
    "dates": (np.zeros(2, "M8[s]"), TypeError, "datetime64"),
    "wide floats": (np.zeros(2, "longdouble"), TypeError, "supported types"),
    "the other byte order": (np.zeros(2, ">f4"), TypeError, ">f4"),
    "backwards": (np.zeros(3)[::-1], ValueError, "negative"),
    "odd steps": (np.zeros(3, "u1,f4")["f1"], ValueError, "multiple of the element byte size"),
}


@pytest.mark.parametrize(("value", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused_arrays(value, error, fact):
    with pytest.raises(error, match=fact):
        taeda.from_numpy(value)


def test_refused_tensors():
    with pytest.raises(RuntimeError, match="detach"):
        taeda.ones(2, requires_grad=True).numpy()
    with pytest.raises(RuntimeError, match="conjugate"):
        taeda.ones(2, dtype=taeda.complex64).conj().numpy()
    with pytest.raises(TypeError, match="meta"):
        taeda.ones(2, device="meta").numpy()
    x = taeda.ones(2, requires_grad=True)
    assert x.numpy(force=True).tolist() == [1, 1]
    assert (x * 2).detach().numpy().tolist() == [2, 2]


HIDDEN = {
    "gradient": (lambda: taeda.ones(2, requires_grad=True), "requires grad"),
    "conj": (lambda: taeda.ones(2, dtype=taeda.complex64).conj(), "conjugate"),
    "neg": (lambda: taeda.ones(2, dtype=taeda.complex64).conj().imag, "negative"),
}


@pytest.mark.parametrize(("make", "fact"), HIDDEN.values(), ids=HIDDEN)
def test_numpy_reads_no_memory_that_means_something_else(make, fact):
    with pytest.raises(RuntimeError, match=fact):
        np.asarray(make())
    with pytest.raises(BufferError, match=fact):
        memoryview(make())


def test_asarray_keeps_a_history_unless_told_not_to():
    x = taeda.ones(2, requires_grad=True)
    assert taeda.asarray(x) is x and taeda.asarray(x * 2).requires_grad
    assert not taeda.asarray(x, requires_grad=False).requires_grad
    assert taeda.asarray([1.0], requires_grad=True).is_leaf
    with pytest.raises(RuntimeError, match="floating point"):
        taeda.asarray([1], requires_grad=True)


def test_asarray_reads_buffers_as_elements():
    buffer = bytearray(8)
    made = taeda.asarray(buffer, dtype=taeda.int16)
    made[0] = 1
    assert made.shape == (4,) and buffer[0] == 1
    assert taeda.asarray(buffer).dtype is taeda.float32
    assert taeda.asarray(array.array("i", [1, 2]), dtype=taeda.int32).tolist() == [1, 2]
    with pytest.raises(ValueError, match="multiple of element size"):
        taeda.asarray(b"abc")


REFUSED_BUFFERS = {
    "no buffer": ([1], {"dtype": taeda.uint8}, ValueError, "buffer protocol.*list"),
    "gaps": (np.ones(4)[::2], {"dtype": taeda.float64}, RuntimeError, "gaps"),
    "no dtype": (b"a", {"dtype": None}, TypeError, "must be taeda.dtype, not NoneType"),
}


@pytest.mark.parametrize(
    ("value", "words", "error", "fact"), REFUSED_BUFFERS.values(), ids=REFUSED_BUFFERS
)
def test_refused_buffers(value, words, error, fact):
    with pytest.raises(error, match=fact):
        taeda.frombuffer(value, **words)


@pytest.mark.parametrize("value", [2**63, [1, 2**63], 2**64, [True, -(2**64)]], ids=str)
def test_integers_that_do_not_fit(value):
    with pytest.raises(ValueError, match="Overflow when unpacking"):
        taeda.tensor(value)


def test_integers_that_fit_elsewhere():
    assert taeda.tensor(2**63, dtype=taeda.uint64).item() == 2**63
    assert taeda.tensor([1.5, 2**64]).tolist() == [1.5, 2.0**64]
    assert taeda.tensor(2**70, dtype=taeda.float64).item() == 2.0**70


@pytest.mark.parametrize("value", ["a", b"a", [1, "a"], [[b"a"], 1][:1]], ids=str)
def test_text_is_no_data(value):
    with pytest.raises(TypeError, match="invalid data type"):
        taeda.tensor(value)


@pytest.mark.parametrize("name", ["int64", "uint64", "int32", "float64", "bool"])
def test_arrays_have_numpys_own_type_of_that_name(name):
    """int64 is `long` where that has 64 bits; `longlong` is another type, whose scalars are no np.int64."""
    tensor, own = taeda.ones(2).to(getattr(taeda, name)), np.dtype(name)
    for made in (
        np.asarray(tensor),
        np.asarray(memoryview(tensor)),
        tensor.numpy(),
        np.asarray(tensor[:0]),
    ):
        assert made.dtype.char == own.char
    assert isinstance(np.asarray(tensor)[0], own.type)
    assert memoryview(tensor).format == memoryview(np.ones(2, own)).format
    assert taeda.from_numpy(np.asarray(tensor)).dtype is tensor.dtype


# ---- whoever holds the memory holds it, whatever the tensor becomes ----

HOLDERS = {
    "numpy": lambda t: t.numpy(),
    "numpy of a strided one": lambda t: t[::2].numpy(),
    "asarray": np.asarray,
    "frombuffer": lambda t: np.frombuffer(t, np.float32),
    "array on a memoryview": lambda t: np.ndarray((1000,), np.float32, buffer=memoryview(t)),
    "memoryview": memoryview,
    "dlpack": np.from_dlpack,
}
EXCHANGES = {
    "data": lambda t: setattr(t, "data", taeda.zeros(3)),
    "set_": lambda t: t.set_(),
    "share_memory_": lambda t: t.share_memory_(),
    "swap": lambda t: taeda.utils.swap_tensors(t, taeda.zeros(3)),
}


@pytest.mark.parametrize("exchange", EXCHANGES.values(), ids=EXCHANGES)
@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_exported_memory_outlives_what_becomes_of_the_tensor(holder, exchange):
    tensor = taeda.ones(1000)
    held = holder(tensor)
    exchange(tensor)
    del tensor
    kept = [taeda.full((1000,), 5.0) for _ in range(5)]  # into what was freed
    assert np.asarray(held).min() == np.asarray(held).max() == 1 and kept


def test_exported_memory_is_let_go_with_its_holders():
    before = taeda._native.core.memory_stats()["allocated"]
    for holder in HOLDERS.values():
        holder(taeda.ones(1000))
    gc.collect()
    assert taeda._native.core.memory_stats()["allocated"] - before < 4000


# ---- the buffer protocol: what a consumer asks for is what it gets ----

FLAGS = {
    "simple": 0, "writable": 1, "format": 4, "nd": 8, "strides": 0x18, "c": 0x38, "f": 0x58, "any": 0x98,
    "full": 0x11C + 1, "full_ro": 0x11C, "records": 0x1D, "strided": 0x19,
}  # fmt: skip
LAYOUTS = {
    "rows": lambda: taeda.arange(12.0).view(3, 4), "columns": lambda: taeda.arange(12.0).view(4, 3).t(),
    "gaps": lambda: taeda.arange(24.0).view(3, 8)[:, ::2], "line": lambda: taeda.arange(5.0),
    "one": lambda: taeda.tensor(3.0),
    "empty": lambda: taeda.zeros(0, 3), "expanded": lambda: taeda.ones(1).expand(4),
    "windows": lambda: taeda.arange(6.0).unfold(0, 3, 1),
    "ones": lambda: taeda.arange(4.0).as_strided((1, 4, 1), (7, 1, 9)),
}  # fmt: skip


def asked(exporter, flags):
    """(shape, strides, format, length, read-only) of a buffer, or the sentence with which it is refused."""

    class Buffer(ctypes.Structure):
        _fields_ = [
            *(("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t)),
            *(("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int)),
            *(("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t))),
            *(("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.c_void_p)),
            ("internal", ctypes.c_void_p),
        ]

    view, get = Buffer(), ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = [ctypes.py_object, ctypes.POINTER(Buffer), ctypes.c_int]
    try:
        get(exporter, ctypes.byref(view), flags)
    except (BufferError, ValueError) as error:  # numpy raises this one
        return str(error)
    dims = [list(d[: view.ndim]) if d else None for d in (view.shape, view.strides)]
    facts = (*dims, view.format, view.len, view.itemsize, bool(view.readonly))
    release = ctypes.pythonapi.PyBuffer_Release
    release.argtypes = [ctypes.POINTER(Buffer)]
    release(ctypes.byref(view))
    return facts


@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_flags_are_answered_as_numpy_answers_them(layout, flags):
    tensor = layout()
    sizes, strides = tuple(tensor.shape), tuple(4 * s for s in tensor.stride())
    memory = np.zeros(max(tensor.untyped_storage().nbytes() // 4, 1), np.float32)
    array = np.ndarray(sizes, np.float32, buffer=memory, strides=strides)
    if tensor.untyped_storage().nbytes() < 4 * tensor.numel():
        array.flags.writeable = False
    mine, theirs = asked(tensor, flags), asked(array, flags)
    # numpy gives a format without a shape, which the protocol does not know
    if flags == FLAGS["format"]:
        assert isinstance(mine, str)
    elif isinstance(theirs, str):
        assert isinstance(mine, str), mine
    else:
        shape, steps, *rest = mine
        assert rest == list(theirs[2:])
        assert shape == (theirs[0] if flags & 8 else None)
        assert steps == (list(strides) if flags & 0x10 and strides else None)


def test_bytes_that_are_not_in_a_row_are_refused():
    with pytest.raises(BufferError, match="not contiguous"):
        hashlib.sha256(taeda.zeros(1).expand(4096))
    with pytest.raises(BufferError, match="not contiguous"):
        hashlib.sha256(taeda.zeros(8)[::2])
    expected = hashlib.sha256(bytes(32)).hexdigest()
    assert hashlib.sha256(taeda.zeros(8)).hexdigest() == expected


def test_elements_that_are_one_place_are_not_offered_for_writing():
    assert memoryview(taeda.zeros(1).expand(5)).readonly
    assert not taeda.zeros(1).expand(5).numpy().flags.writeable
    assert not memoryview(taeda.zeros(5, 1).expand(5, 1)).readonly
    with pytest.raises(TypeError, match="read-only"):
        memoryview(taeda.zeros(1).expand(5))[0] = 3


# ---- numbers at odd addresses ----


@pytest.mark.parametrize("dtype", ["i2", "f2", "i4", "f4", "i8", "f8", "c8", "c16"])
def test_elements_at_an_odd_address_are_refused_or_copied(dtype):
    item = np.dtype(dtype).itemsize
    odd = np.zeros(item * 10 + 1, "u1")[1:].view(dtype)
    odd[:] = 3
    with pytest.raises(ValueError, match="multiple"):
        taeda.from_numpy(odd)
    with pytest.raises(BufferError, match="odd address"):
        taeda.from_dlpack(odd)
    for made in (taeda.tensor(odd), taeda.as_tensor(odd), taeda.asarray(odd)):
        assert made.tolist() == odd.tolist()
        assert made.data_ptr() % item == 0
    assert taeda.from_numpy(odd[:0]).shape == (0,)


def test_bytes_at_an_odd_address_are_not_seen_as_numbers():
    odd = np.zeros(81, "u1")[1:]
    plain = taeda.from_numpy(odd)
    with pytest.raises(RuntimeError, match="multiple"):
        plain.view(taeda.float64)
    with pytest.raises(ValueError, match="multiple"):
        taeda.frombuffer(bytearray(80), dtype=taeda.float32, offset=1, count=3)
    with pytest.raises(ValueError, match="multiple"):
        taeda.empty(0).set_(plain.untyped_storage(), 0, (2,))
    assert plain.clone().view(taeda.float64).tolist() == [0.0] * 10


@pytest.mark.parametrize("offset", [2**63 - 1, 2**63 - 2, 2**62, 9])
def test_set_refuses_what_lies_beyond_the_storage(offset):
    storage = taeda.zeros(8, dtype=taeda.uint8).untyped_storage()
    with pytest.raises(RuntimeError, match="reach outside"):
        taeda.empty(0, dtype=taeda.uint8).set_(storage, offset, (1,), (1,))


@pytest.mark.parametrize("rank", range(9))
def test_the_buffer_has_the_sizes_and_strides_of_any_number_of_dimensions(rank):
    sizes = tuple(range(1, rank + 1))
    x = taeda.arange(math.prod(sizes)).reshape(sizes).permute([*reversed(range(rank))])
    view = memoryview(x)
    assert view.shape == tuple(x.shape)
    assert view.strides == tuple(8 * step for step in x.stride())
    assert view.tolist() == x.tolist()
    assert x.contiguous().numpy().tolist() == x.tolist()
