"""The bytes of a file: read where they are wanted, never beyond the end."""

from __future__ import annotations

import io
import zlib

import pytest

import taeda
from taeda._io.safetensors import FormatError
from taeda._io.source import FileSource, MappedSource

DATA = bytes(range(256)) * 5000  # more than a chunk


class Slow:
    """A file without `readinto` that gives 1000 bytes at most, and ends early."""

    def __init__(self, data):
        self.inner = io.BytesIO(data)
        self.seek = self.inner.seek

    def read(self, count):
        return self.inner.read(min(count, 1000))


@pytest.fixture(params=["file", "slow", "mapped"])
def source(request, tmp_path):
    if request.param == "mapped":
        (tmp_path / "x").write_bytes(DATA)
        with open(tmp_path / "x", "rb") as file:
            yield MappedSource(file)
        return
    kind = io.BytesIO if request.param == "file" else Slow
    yield FileSource(kind(b"ab" + DATA), 2, len(DATA))


@pytest.mark.parametrize(("begin", "count"), [(0, 0), (0, 10), (300, 5000), (len(DATA), 0)])
def test_bytes_and_tensors(source, begin, count):
    part = DATA[begin : begin + count]
    assert source.read(begin, count) == part
    made, total = source.tensor(begin, count, lambda data, so_far: zlib.crc32(data, so_far))
    assert made.dtype is taeda.uint8 and bytes(made.tolist()) == part and total == zlib.crc32(part)
    assert source.tensor(begin, count, None)[0].shape == (count,)


def test_all_of_it_in_pieces(source):
    made, total = source.tensor(0, len(DATA), lambda data, so_far: zlib.crc32(data, so_far))
    assert made.numpy().tobytes() == DATA and total == zlib.crc32(DATA)


@pytest.mark.parametrize(("begin", "count"), [(-1, 2), (0, -1), (0, len(DATA) + 1), (len(DATA), 1)])
def test_nothing_lies_beyond_the_end(source, begin, count):
    for read in (source.read, source.tensor):
        with pytest.raises(
            FormatError, match=f"the file is truncated: bytes {begin} to {begin + count}"
        ):
            read(begin, count)


@pytest.mark.parametrize("kind", [io.BytesIO, Slow])
def test_a_file_that_became_shorter(kind):
    source = FileSource(kind(b"abc"), 0, 10)
    for read in (source.read, source.tensor):
        with pytest.raises(FormatError, match="the file ended 7 bytes early"):
            read(0, 10)


def test_a_map_is_copied_where_it_is_not_aligned(tmp_path):
    (tmp_path / "x").write_bytes(DATA)
    with open(tmp_path / "x", "rb") as file:
        source = MappedSource(file)
    base = source.tensor(0, 1)[0].data_ptr()
    assert source.tensor(16, 8)[0].data_ptr() == base + 16
    assert source.tensor(8, 8)[0].data_ptr() != base + 8
    assert source.tensor(8, 8, align=4)[0].data_ptr() == base + 8
