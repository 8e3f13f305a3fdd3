"""Frames between a TCPStore and its server."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taeda.distributed._stores import wire


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(0, 255), st.lists(st.binary(max_size=20), max_size=5))
def test_there_and_back(kind, fields):
    frame = wire.pack(kind, fields)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert wire.unpack(frame[4:]) == (kind, fields)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.binary(max_size=40))
def test_any_bytes_are_a_frame_or_malformed(data):
    try:
        kind, fields = wire.unpack(data)
    except wire.Malformed:
        return
    assert wire.pack(kind, fields)[4:] == data


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (b"", "empty frame"),
        (b"\x01\x00\x00", "length is cut off"),
        (b"\x01\x00\x00\x00\x05abcd", "longer than its frame"),
        (b"\x01\xff\xff\xff\xff", "longer than its frame"),
    ],
)
def test_lengths_that_do_not_add_up(frame, words):
    with pytest.raises(wire.Malformed, match=words):
        wire.unpack(frame)


def test_the_proof_is_an_hmac_of_the_greeting():
    proof = wire.prove(b"secret", b"greeting")
    assert proof == hmac.new(b"secret", b"greeting", hashlib.sha256).digest()
    assert len(proof) == wire.ANSWER_BYTES and proof != wire.prove(b"other", b"greeting")
