"""crc32 against zlib's and crc32c against its definition, at all the lengths where the ways of
computing meet.
"""

from __future__ import annotations

import random
import zlib

import pytest

from taeda._native.core import crc32, crc32c

LENGTHS = [*range(20), 63, 64, 65, 79, 80, 81, 127, 128, 129, 143, 144, 1000, 4096, 100_003]


@pytest.mark.parametrize("length", LENGTHS)
def test_equal_to_zlib(length):
    data = random.Random(length).randbytes(length)
    assert crc32(data) == zlib.crc32(data)
    assert crc32(data, 0xDEADBEEF) == zlib.crc32(data, 0xDEADBEEF)


def by_definition(data, before=0):
    """CRC-32C bit by bit (RFC 3720)."""
    register = before ^ 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


@pytest.mark.parametrize("length", [n for n in LENGTHS if n < 5000])
def test_castagnoli_equal_to_its_definition(length):
    data = random.Random(length).randbytes(length)
    assert crc32c(data) == by_definition(data)
    assert crc32c(data, 0xDEADBEEF) == by_definition(data, 0xDEADBEEF)


def test_castagnoli_of_the_standards_example():
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720, B.4


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
