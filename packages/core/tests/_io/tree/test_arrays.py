"""numpy's arrays and scalars as JSON and back."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
import pytest

import taeda
from taeda._io.safetensors import FormatError
from taeda._io.tree import arrays

FIELDS = np.dtype([("a", "<i4"), ("b", "f8", (2,))])
DTYPES = ["i1", "u8", "f2", "f8", "c8", "?", ">i4", "S3", "U2", "M8[s]", FIELDS]


def through(value):
    """Through JSON; tensors are kept aside."""
    kept = []

    def node(tensor, path):
        kept.append(tensor)
        return len(kept) - 1

    written = json.loads(json.dumps(arrays.array_node(value, "x", node)))
    number, described, shape = written["ndarray"]
    return arrays.array_from(kept[number], described, shape), kept[number]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_arrays_come_back(dtype, shape):
    dtype = np.dtype(dtype)
    value = np.ndarray(shape, dtype, buffer=bytearray(b"\x01" * 4 * 20 * 6))
    if dtype.kind == "U":
        value = np.full(shape, "ab", dtype)
    made, tensor = through(value)
    assert made.dtype == dtype and made.shape == shape and made.tobytes() == value.tobytes()
    same = dtype.isnative and dtype.kind in "iufcb"
    assert (str(tensor.dtype) == f"taeda.{dtype.name}") is (same or dtype == np.uint8)


def test_what_has_no_strides_of_a_tensor_is_kept_as_bytes():
    value = np.arange(4)[::-1]
    made, tensor = through(value)
    assert made.tolist() == [3, 2, 1, 0] and tensor.dtype is taeda.uint8
    read_only = np.arange(3.0)
    read_only.flags.writeable = False
    assert through(read_only)[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_scalars_and_dtypes_come_back(dtype):
    dtype = np.dtype(dtype)
    value = np.zeros((), dtype)[()]
    described, content = json.loads(json.dumps(arrays.scalar_node(value, "x")))["numpy"]
    assert arrays.scalar_from(described, content) == value
    written = json.loads(json.dumps(arrays.dtype_node(dtype, "x")))["numpy.dtype"]
    assert arrays.dtype_from(written) == dtype


def test_empty_texts_come_back():
    for value in (np.str_(""), np.bytes_(b"")):
        file = io.BytesIO()
        taeda.save({"v": value}, file)
        file.seek(0)
        made = taeda.load(file)["v"]
        assert type(made) is type(value) and made == value


def test_what_is_numpys():
    assert (
        arrays.is_numpy(np.float32(1))
        and not arrays.is_numpy(np.ones(1))
        and not arrays.is_numpy(1)
    )
    assert arrays.is_numpy(np.ones(1), array=True) and not arrays.is_numpy(
        np.ma.ones(1), array=True
    )
    assert arrays.dtype_node(3, "x") is None and arrays.dtype_node(np.float32(1), "x") is None


def test_refusals():
    objects = np.array([None])
    for call in (
        lambda: arrays.array_node(objects, "x.y", None),
        lambda: arrays.dtype_node(objects.dtype, "x.y"),
    ):
        with pytest.raises(TypeError, match=r"cannot save 'x\.y': a numpy array of Python objects"):
            call()
    with pytest.raises(FormatError, match="dtype of Python objects is not read"):
        arrays.dtype_from("|O")
    with pytest.raises(FormatError, match="has 4 bytes, the file gives 3"):
        arrays.scalar_from("<i4", base64.b64encode(b"abc").decode())
    for wrong in (3, taeda.ones(1, requires_grad=True), taeda.ones(1, device="meta")):
        with pytest.raises(FormatError, match="a plain tensor on the cpu"):
            arrays.array_from(wrong, None, [1])
