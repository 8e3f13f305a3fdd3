"""A binary file whose `write` takes all it is given."""

from __future__ import annotations

import os

import numpy as np
import pytest

from taeda._io import disk
from taeda._io.atomicfile import AtomicFile


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "x"
    made = AtomicFile(os.open(path, os.O_RDWR | os.O_CREAT), str(path), 0)
    made.path = path
    yield made
    made.close()
    made.close()


def test_all_is_taken_even_if_the_system_takes_little(file, monkeypatch):
    class Slow(type(disk.current())):
        turns = 0

        def write(self, descriptor, view):
            self.turns += 1
            if self.turns % 3 == 0:
                raise InterruptedError
            return os.write(descriptor, view[:7])

    slow = Slow()
    monkeypatch.setattr(disk, "current", lambda: slow)
    data = np.arange(100, dtype=np.int32)
    assert file.write(data) == 400 and file.write(b"") == 0
    assert file.path.read_bytes() == data.tobytes() and slow.turns > 400 / 7


def test_it_is_a_file(file):
    assert file.writable() and file.seekable()
    file.write(b"0123456789")
    assert file.tell() == 10 and file.seek(-4, os.SEEK_END) == 6
    assert file.truncate() == 6 and file.truncate(3) == 3
    assert file.path.read_bytes() == b"012"


def test_a_system_that_takes_nothing_is_an_error(file, monkeypatch):
    class Deaf(type(disk.current())):
        def write(self, descriptor, view):
            return 0

    monkeypatch.setattr(disk, "current", Deaf)
    with pytest.raises(OSError, match="the device reports an error"):
        file.write(b"x")


def test_the_device_begins_early_with_whole_pages(file, monkeypatch):
    told = []

    class Told(type(disk.current())):
        def flush_early(self, descriptor, begin, count):
            told.append((begin, count))

    monkeypatch.setattr(disk, "current", Told)
    for _ in range(5):
        file.write(bytes((1 << 19) + 10))
    assert told and all(begin % 4096 == 0 == count % 4096 for begin, count in told)
    ends = [begin + count for begin, count in told]
    assert all(begin >= end for (begin, _), end in zip(told[1:], ends, strict=False))
