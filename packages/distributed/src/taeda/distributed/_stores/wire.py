"""The bytes between a TCPStore and its server: frames of length-prefixed fields, behind a proof of
the secret.

A frame is a 4-byte length and that many bytes: one byte that says what it is, then fields, each
with its own 4-byte length. The server speaks first: 4 bytes of name and 16 random ones; the client
answers with their HMAC under the secret.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Iterable

__all__ = [
    "ANSWER_BYTES",
    "GREETING_BYTES",
    "MAGIC",
    "MAX_FRAME",
    "Malformed",
    "pack",
    "prove",
    "unpack",
]

MAGIC = b"TDS1"
GREETING_BYTES = 20
ANSWER_BYTES = 32
MAX_FRAME = 256 << 20
_LENGTH = struct.Struct("!I")


class Malformed(Exception):
    """Bytes that are no frame."""


def prove(secret: bytes, greeting: bytes) -> bytes:
    """What a client that knows the secret answers."""
    return hmac.digest(secret, greeting, hashlib.sha256)


def pack(kind: int, fields: Iterable[bytes] = ()) -> bytes:
    """A frame, ready to be sent."""
    body = b"".join(part for field in fields for part in (_LENGTH.pack(len(field)), field))
    return _LENGTH.pack(1 + len(body)) + bytes([kind]) + body


def unpack(frame: bytes) -> tuple[int, list[bytes]]:
    """Kind and fields of a frame without its length. Malformed if the lengths do not add up."""
    if not frame:
        raise Malformed("an empty frame")
    fields, at = [], 1
    while at < len(frame):
        if at + 4 > len(frame):
            raise Malformed("a field's length is cut off")
        (size,) = _LENGTH.unpack_from(frame, at)
        at += 4
        if size > len(frame) - at:
            raise Malformed("a field is longer than its frame")
        fields.append(frame[at : at + size])
        at += size
    return frame[0], fields
