"""Protocol Buffers, written: varints, and fields by number.

The encoding is that of protobuf.dev/programming-guides/encoding. A message is a list of pieces, so
that the memory of a weight is a piece, which nobody copies.
"""

from __future__ import annotations

import struct
from typing import TypeAlias

__all__ = [
    "Message", "floating", "integer", "message", "packed_floats", "packed_integers", "size", "text"
]  # fmt: skip

Message: TypeAlias = list[bytes | memoryview]


def varint(number: int) -> bytes:
    """An integer in groups of seven bits; a negative one as its 64-bit complement.

    >>> varint(300).hex()
    'ac02'
    """
    number &= (1 << 64) - 1
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    made.append(number)
    return bytes(made)


def integer(field: int, number: int) -> Message:
    """A field of an integer."""
    return [varint(field << 3) + varint(number)]


def floating(field: int, number: float) -> Message:
    """A field of a float of 32 bits."""
    return [varint(field << 3 | 5) + struct.pack("<f", number)]


def text(field: int, value: str | bytes) -> Message:
    """A field of text, or of bytes."""
    content = value.encode() if isinstance(value, str) else value
    return [varint(field << 3 | 2) + varint(len(content)), content]


def message(field: int, pieces: Message) -> Message:
    """A field of a message, or of bytes in pieces."""
    return [varint(field << 3 | 2) + varint(size(pieces)), *pieces]


def packed_integers(field: int, numbers: list[int]) -> Message:
    """A field of several integers, packed."""
    return text(field, b"".join(map(varint, numbers)))


def packed_floats(field: int, numbers: list[float]) -> Message:
    """A field of several floats of 32 bits, packed."""
    return text(field, struct.pack(f"<{len(numbers)}f", *numbers))


def size(pieces: Message) -> int:
    """The bytes of a message."""
    return sum(map(len, pieces))
