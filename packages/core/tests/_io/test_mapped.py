"""Reading what is mapped from a file that others may shorten."""

from __future__ import annotations

import os

import pytest

import taeda
from taeda.serialization import read_mapped

VIEWS = {
    "whole": lambda x: x,
    "part": lambda x: x[1000:2000],
    "steps": lambda x: x[::3],
    "turned": lambda x: x[:300_000].reshape(300, 1000).t(),
    "repeated": lambda x: x[:4].expand(5, 4),
    "none": lambda x: x[:0],
    "number": lambda x: x[7],
}


def mapped(tmp_path):
    taeda.save({"x": taeda.arange(600_000.0)}, tmp_path / "file")
    return taeda.load(tmp_path / "file", mmap=True)["x"]


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_copy_is_what_the_tensor_is(tmp_path, view):
    x = view(mapped(tmp_path))
    copy = read_mapped(x)
    assert taeda.equal(copy, x)
    assert (copy.stride(), copy.dtype, copy.shape) == (x.stride(), x.dtype, x.shape)
    assert not copy.numel() or copy.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


def test_conjugates_and_negatives():
    z = taeda.arange(6.0).view(taeda.complex64).conj()
    assert taeda.equal(read_mapped(z), z)
    assert taeda.equal(read_mapped(z.imag), z.imag)


@pytest.mark.parametrize("left", [0, 5000, 2_000_000])
def test_a_shortened_file_is_an_error(tmp_path, left):
    x = mapped(tmp_path)
    os.truncate(tmp_path / "file", left)
    with pytest.raises(OSError, match="the file that it is mapped from was shortened"):
        read_mapped(x)
    if left > 1_000_000:
        assert read_mapped(x[:1000]).tolist() == [*range(1000)]


def test_the_same_of_from_file(tmp_path):
    (tmp_path / "file").write_bytes(bytes(1 << 20))
    x = taeda.from_file(str(tmp_path / "file"), size=1 << 20, dtype=taeda.uint8)
    os.truncate(tmp_path / "file", 10)
    with pytest.raises(OSError, match="was shortened"):
        read_mapped(x)
