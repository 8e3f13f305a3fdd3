"""crc32 against zlib's, at all the lengths where its ways of computing meet."""

from __future__ import annotations

import random
import zlib

import pytest

from taeda._native.core import crc32

LENGTHS = [*range(20), 63, 64, 65, 79, 80, 81, 127, 128, 129, 143, 144, 1000, 4096, 100_003]


@pytest.mark.parametrize("length", LENGTHS)
def test_equal_to_zlib(length):
    data = random.Random(length).randbytes(length)
    assert crc32(data) == zlib.crc32(data)
    assert crc32(data, 0xDEADBEEF) == zlib.crc32(data, 0xDEADBEEF)


def test_pieces_give_the_sum_of_the_whole():
    data = random.Random(0).randbytes(1000)
    for cut in (0, 1, 63, 64, 500, 999, 1000):
        assert crc32(data[cut:], crc32(data[:cut])) == zlib.crc32(data)


def test_any_contiguous_buffer_and_nothing_else():
    assert crc32(memoryview(bytearray(b"abcdef"))[2:4]) == zlib.crc32(b"cd")
    with pytest.raises((TypeError, BufferError)):
        crc32(memoryview(b"abcdef")[::2])
    with pytest.raises(TypeError):
        crc32("text")
