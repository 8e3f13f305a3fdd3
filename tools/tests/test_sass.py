"""Counting instructions of machine code: a kernel made by hand, in the form that NVRTC 13.0 gives sm_90."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cuda"))
import sass


def branch(distance: int) -> bytes:
    """To the instruction that is so many behind the next one."""
    words = distance * 4
    word = 0x947 | (words & 0xFF) << 16 | (words >> 8 & (1 << 48) - 1) << 34
    return word.to_bytes(16, "little")


def plain(operation: int) -> bytes:
    return operation.to_bytes(16, "little")


#: two loads, a store and a loop over four instructions; then the padding
CODE = b"".join(
    (
        *(plain(0x381), plain(0x981), plain(0x223), plain(0x386), branch(-4)),
        *(plain(0x94D), branch(-1), plain(0x918), plain(0x918)),
    )
)


def elf(name: str, content: bytes) -> bytes:
    """A file of two sections: the names, and one of code."""
    names = b"\0.names\0" + name.encode() + b"\0"
    head = bytearray(64)
    head[:5] = b"\x7fELF\x02"
    struct.pack_into("<Q", head, 0x28, 64 + len(names) + len(content))
    struct.pack_into("<HHH", head, 0x3A, 64, 2, 0)

    def entry(at: int, place: int, length: int) -> bytes:
        return struct.pack("<II8xQQQ", at, 1, 0, place, length).ljust(64, b"\0")

    table = entry(1, 64, len(names)) + entry(8, 64 + len(names), len(content))
    return bytes(head) + names + content + table


def test_counts_of_a_kernel():
    found = sass.kernels(elf(".text.add", CODE))
    assert found == {"add": sass.Counts(6, 4, 2, 1, 0, 0)}


def test_other_encodings_are_refused():
    with pytest.raises(ValueError, match="another encoding"):
        sass.counted(CODE[: 5 * 16])
    with pytest.raises(ValueError, match="ELF"):
        sass.kernels(b"\x7fELF\x01" + bytes(60))
