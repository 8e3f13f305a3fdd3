"""The names of the metadata, and the places in a header that are filled in last."""

from __future__ import annotations

from taeda._native import core as _core

from ..safetensors import LENGTH_BYTES, Header, write_header

__all__ = [
    "KEYS",
    "REQUIRED",
    "UNKNOWN",
    "VERSION",
    "checksum",
    "header_is_whole",
    "template",
    "with_sums",
]

VERSION = "1"
UNKNOWN = "-" * 8  # a checksum that was not computed
_ZEROS = "0" * 8


class KEYS:
    """Keys of the metadata."""

    VERSION = "taeda.version"
    TREE = "taeda.tree"
    TENSORS = "taeda.tensors"
    SUMS = "taeda.crc32c"
    HEADER_SUM = "taeda.header_crc32c"
    LOCATIONS = "taeda.locations"


REQUIRED = (KEYS.VERSION, KEYS.TREE, KEYS.TENSORS, KEYS.SUMS, KEYS.HEADER_SUM)


def checksum(data: bytes | bytearray | memoryview) -> str:
    """The CRC-32C of bytes, as files give it: eight hexadecimal digits."""
    return f"{_core.crc32c(data):08x}"


def template(header: Header, sums: int) -> bytes:
    """A header's bytes with room for `sums` checksums of entries and its own."""
    room = {KEYS.SUMS: " ".join([_ZEROS] * sums), KEYS.HEADER_SUM: _ZEROS}
    return write_header(Header(header.entries, header.metadata | room))


def with_sums(template: bytes, sums: list[str]) -> bytes:
    """The header with its checksums."""
    made = bytearray(template)
    _put(made, KEYS.SUMS, " ".join(sums).encode())
    _put(made, KEYS.HEADER_SUM, checksum(memoryview(made)[LENGTH_BYTES:]).encode())
    return bytes(made)


def _put(text: bytearray, key: str, value: bytes) -> None:
    # Quotes inside of JSON texts have a backslash before them, so only the key itself looks like this.
    mark = f'"{key}":"'.encode()
    place = text.rindex(mark) + len(mark)
    text[place : place + len(value)] = value


def header_is_whole(text: bytes, told: str) -> bool:
    """Whether a header without its length has the checksum that it tells."""
    zeroed = bytearray(text)
    try:
        _put(zeroed, KEYS.HEADER_SUM, _ZEROS.encode())
    except ValueError:  # the key is not there as we write it
        return False
    return len(told) == len(_ZEROS) and checksum(zeroed) == told
