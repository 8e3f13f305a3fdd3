"""The places in a header that are filled in last."""

from __future__ import annotations

import json

import pytest

from taeda._io.native import layout
from taeda._io.safetensors import LENGTH_BYTES, Header


@pytest.fixture
def header():
    tricky = 'a text with "taeda.header_crc32c":"--------" in it'
    return Header({}, {"taeda.version": "1", "taeda.tree": tricky})


def test_a_checksum_is_the_crc_32c():
    assert layout.checksum(b"123456789") == "e3069283"  # the check value of the polynomial
    assert layout.checksum(b"") == "00000000"


def test_sums_are_filled_in_and_the_header_knows_its_own(header):
    room = layout.template(header, 2)
    made = layout.with_sums(room, ["0123abcd", layout.UNKNOWN])
    assert len(made) == len(room)
    text = made[LENGTH_BYTES:]
    told = json.loads(text)["__metadata__"]
    assert told[layout.KEYS.SUMS] == "0123abcd --------"
    assert told["taeda.tree"] == header.metadata["taeda.tree"]
    assert layout.header_is_whole(text, told[layout.KEYS.HEADER_SUM])


def test_every_other_byte_is_noticed(header):
    text = layout.with_sums(layout.template(header, 1), ["0" * 8])[LENGTH_BYTES:]
    told = json.loads(text)["__metadata__"][layout.KEYS.HEADER_SUM]
    for place in range(0, len(text), 3):
        other = bytearray(text)
        other[place] ^= 1
        # the sum itself is told apart
        inside = told.encode() in text[max(0, place - 8) : place + 8]
        assert inside or not layout.header_is_whole(bytes(other), told)
    assert not layout.header_is_whole(text, told[:-1])
    assert not layout.header_is_whole(b"{}", told)
