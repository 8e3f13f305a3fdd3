"""numpy's files become tensors bit for bit; anything but plain numbers is refused."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

import taeda
from taeda._io.safetensors import FormatError

CODES = "b1 u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8 c8 c16".split()


def written(array, write=np.save, **options):
    file = io.BytesIO()
    write(file, array, **options)
    return file.getvalue()


def zipped(write=np.savez, **arrays):
    file = io.BytesIO()
    write(file, **arrays)
    return file.getvalue()


def load(data, **options):
    return taeda.load(io.BytesIO(data), **options)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("code", CODES)
def test_every_dtype(code, order):
    array = np.array([[0, 1, 2], [3, 4, 1]]).astype(order + code)
    made = load(written(array))
    assert made.numpy().dtype == array.dtype.newbyteorder("=")
    assert np.array_equal(made.numpy(), array)


@pytest.mark.parametrize(
    "array",
    [
        np.float32(3),
        np.empty((0, 3)),
        np.arange(6).reshape(2, 3).T,
        np.ones((1,) * 9),
        np.arange(4),
    ],
    ids=["zero-dim", "empty", "Fortran", "rank nine", "one-dim"],
)
def test_every_layout(array, tmp_path):
    path = tmp_path / "array.npy"
    path.write_bytes(written(array))
    for made in (taeda.load(path), taeda.load(path, mmap=True)):
        assert tuple(made.shape) == np.shape(array)
        assert np.array_equal(made.numpy(), array)
    assert taeda.load(path, map_location="meta").is_meta


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version(version):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.arange(3), version=version)
    assert load(file.getvalue()).tolist() == [0, 1, 2]


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_an_archive(write, tmp_path):
    arrays = {"a": np.arange(5.0), "b": np.arange(6).reshape(2, 3).T, "c": np.empty(0)}
    data = zipped(write, **arrays)
    path = tmp_path / "arrays.npz"
    path.write_bytes(data)
    for made in (load(data), taeda.load(path), taeda.load(path, mmap=True)):
        assert list(made) == list(arrays)
        assert all(np.array_equal(made[name].numpy(), arrays[name]) for name in arrays)


REFUSED = {
    "objects": (written(np.array([{}]), allow_pickle=True), "dtype '|O'|header that is none"),
    "text": (written(np.array(["a"])), "which no tensor has"),
    "records": (written(np.zeros(2, "i4,f4")), "header that is none of a plain array"),
    "cut": (written(np.arange(3))[:-1], "23 bytes of numbers, and <i8 of shape \\(3,\\) takes 24"),
    "too long": (written(np.arange(3)) + b"x", "25 bytes of numbers"),
    "cut header": (written(np.arange(3))[:40], "truncated, or claims a header"),
    "version 9": (b"\x93NUMPY\x09\x00" + bytes(200), "version that is not known"),
    "expression": (
        written(np.arange(3)).replace(b"(3,)", b"[3] "),
        "header that is none of a plain array",
    ),
    "overflow": (
        written(np.arange(3)).replace(b"(3,), }" + b" " * 30, (b"(3, %d), }" % 2**62).ljust(37)),
        r"takes \d{20}",
    ),
    "many digits": (
        written(np.arange(3)).replace(b"(3,), }" + b" " * 50, b"(" + b"1" * 56),
        "header that is none",
    ),
    "bomb": (zipped(np.savez_compressed, a=np.zeros(10_000_000)), "refused as a bomb"),
}


@pytest.mark.parametrize(("data", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(data, message):
    with pytest.raises(FormatError, match=message):
        load(data)


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_a_flipped_bit_is_found(write):
    data = bytearray(zipped(write, a=np.arange(100)))
    data[len(data) // 2] ^= 1
    with pytest.raises(FormatError, match="damaged"):
        load(bytes(data))


def test_a_size_that_is_not_true():
    data = zipped(np.savez_compressed, a=np.zeros(1000))
    [told] = zipfile.ZipFile(io.BytesIO(data)).infolist()
    wrong = data.replace(told.file_size.to_bytes(4, "little"), (9999).to_bytes(4, "little"))
    with pytest.raises(FormatError, match="unpacks to another size"):
        load(wrong)
