"""Memory shared with numpy, both ways."""

from __future__ import annotations

import array
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
    assert back.dtype == array.dtype and back.flags.writeable
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
