"""Streams of strangers: all bytes arrive, and one that takes none is an error rather than a loop."""

from __future__ import annotations

import pytest

import taeda
from taeda._io.whole import write_all


class Stream:
    """Takes `most` bytes at a time and says what `says` makes of their number."""

    def __init__(self, most, says=lambda count: count):
        self.most, self.says, self.kept = most, says, bytearray()

    def write(self, data):
        some = bytes(data)[: self.most]
        self.kept += some
        return self.says(len(some))


def test_little_at_a_time():
    stream = Stream(3)
    write_all(stream, b"ten bytes.")
    assert stream.kept == b"ten bytes."


def test_an_object_need_not_say():
    stream = Stream(1 << 30, lambda count: None)
    write_all(stream, b"ten bytes.")
    assert stream.kept == b"ten bytes."


@pytest.mark.parametrize(
    "says", [lambda n: 0, lambda n: -1, lambda n: n + 1], ids=["0", "-1", "more"]
)
@pytest.mark.parametrize("format", ["pt", "safetensors"])
def test_what_takes_nothing_is_refused(format, says):
    # asked again and again for ever, before
    with pytest.raises(OSError, match=r"write\(\) of Stream says that it took"):
        taeda.save({"w": taeda.ones(3)}, Stream(1 << 30, says), format=format)
